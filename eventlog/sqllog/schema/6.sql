-- A search among the sessions of one person looks at the words of those sessions only, which have the number of their session (wordindex.go). They get into the index at the next start.
UPDATE store SET indexed = 0/*postgres:  WHERE false*/;
