from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class BackupsConfig(hooks.OptionalApp):
    name = "relevancy.optional.backups"
    verbose_name = "Backups"
