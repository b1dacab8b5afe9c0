"""TCP-FIT: J. Wang, J. Wen, J. Zhang, Y. Han, INFOCOM 2011, 2894-2902."""
