"""Operations that copy while txgs end beside them: sequential rebuilds, RAID-Z expansions, removals."""
