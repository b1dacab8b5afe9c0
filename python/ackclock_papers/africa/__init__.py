"""TCP-Africa: R. King, R. Baraniuk, R. Riedi, INFOCOM 2005, 1838-1848."""
