"""Operations that copy while txgs end in parallel: sequential rebuilds, RAID-Z expansions, removals."""
