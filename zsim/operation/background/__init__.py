"""Operations that copy while txgs end beside them: sequential rebuilds and RAID-Z expansions."""
