from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class PublicLinksConfig(hooks.OptionalApp):
    name = "relevancy.optional.public_links"
    verbose_name = "Public links"
