"""BI-TCP (BIC): L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004."""
