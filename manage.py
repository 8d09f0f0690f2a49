#!/usr/bin/env python
"""`python manage.py COMMAND`: the same as `relevancy COMMAND`."""

from relevancy.__main__ import main

if __name__ == "__main__":
    main()
