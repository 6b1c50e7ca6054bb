"""All addresses of the site, and who may use each."""

from __future__ import annotations

from scenarios.tournament.site.endpoint import Access, Endpoint
from scenarios.tournament.site.host_jobs import ACTIONS
from scenarios.tournament.site.pages import (
    entry_pages,
    health_page,
    host_pages,
    presentation_pages,
    public_pages,
    team_pages,
)

ENDPOINTS = (
    Endpoint("GET", "/", Access.EVERYBODY, public_pages.board_page),
    Endpoint("GET", "/screen", Access.EVERYBODY, public_pages.screen_page),
    Endpoint("GET", "/rules", Access.EVERYBODY, public_pages.rules_page),
    Endpoint("GET", "/boards/{name}", Access.EVERYBODY, public_pages.board_file),
    Endpoint("GET", "/published.zip", Access.MEMBERS, public_pages.published_files),
    Endpoint("GET", "/published/{of}/{kind}", Access.MEMBERS, public_pages.published_file),
    Endpoint("GET", "/live", Access.EVERYBODY, public_pages.live),
    Endpoint("GET", "/health", Access.EVERYBODY, health_page.health),
    Endpoint("GET", "/static/{name}", Access.EVERYBODY, public_pages.static_file),
    Endpoint("GET", "/log-in", Access.EVERYBODY, entry_pages.log_in_page, forms=True),
    Endpoint("POST", "/log-in", Access.EVERYBODY, entry_pages.log_in),
    Endpoint("GET", "/invitation/{token}", Access.EVERYBODY, entry_pages.invitation_page, forms=True),
    Endpoint("POST", "/invitation/{token}", Access.EVERYBODY, entry_pages.accept_invitation),
    Endpoint("GET", "/account", Access.MEMBERS, entry_pages.account_page),
    Endpoint("POST", "/log-out", Access.MEMBERS, entry_pages.log_out),
    Endpoint("GET", "/team/{team}", Access.OWNER, team_pages.team_page),
    Endpoint("GET", "/team/{team}/kit.zip", Access.OWNER, team_pages.kit),
    Endpoint("GET", "/team/{team}/report", Access.OWNER, team_pages.report),
    Endpoint("GET", "/team/{team}/submissions/{number}", Access.OWNER, team_pages.submitted_file),
    Endpoint(
        "POST",
        "/team/{team}/upload",
        Access.TEAM,
        team_pages.upload,
        limits=team_pages.UPLOADS,
        rate=team_pages.UPLOAD_RATE,
    ),
    Endpoint(
        "POST",
        "/team/{team}/preview",
        Access.TEAM,
        team_pages.preview,
        limits=team_pages.ONE_TABLE,
        rate=team_pages.PREVIEW_RATE,
    ),
    Endpoint("POST", "/team/{team}/take", Access.TEAM, team_pages.take_older, rate=team_pages.UPLOAD_RATE),
    Endpoint("GET", "/presentations", Access.EVERYBODY, presentation_pages.presentations_page),
    Endpoint("GET", "/presentations/{of}", Access.EVERYBODY, presentation_pages.presentation_page),
    Endpoint("GET", "/presentations/{of}/picture", Access.EVERYBODY, presentation_pages.presentation_picture),
    Endpoint("GET", "/team/{team}/presentation", Access.OWNER, presentation_pages.draft_page),
    Endpoint("GET", "/team/{team}/presentation/picture", Access.OWNER, presentation_pages.draft_picture),
    Endpoint(
        "POST",
        "/team/{team}/present",
        Access.TEAM,
        presentation_pages.change_presentation,
        limits=presentation_pages.PICTURE,
        rate=presentation_pages.PRESENT_RATE,
    ),
    Endpoint("GET", "/host", Access.HOST, host_pages.host_page),
    *(Endpoint("POST", f"/host/{action}", Access.HOST, host_pages.decision(action)) for action in ACTIONS),
    Endpoint("POST", "/host/admit", Access.HOST, host_pages.admit_late, limits=host_pages.LATE_FILES),
    Endpoint("POST", "/host/score-again", Access.HOST, host_pages.score_again),
    Endpoint("GET", "/host/export.zip", Access.HOST, host_pages.export, rate=host_pages.EXPORT_RATE),
    Endpoint("POST", "/host/invite", Access.HOST, host_pages.invite, rate=host_pages.INVITATION_RATE),
)
