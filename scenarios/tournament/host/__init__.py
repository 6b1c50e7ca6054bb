"""What the host does: phases, messages, boards, backups and exports."""
