"""Single sign-on: signing in with the site's OpenID Connect provider."""
