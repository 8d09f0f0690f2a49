from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class LevelsConfig(hooks.OptionalApp):
    name = "relevancy.optional.levels"
    verbose_name = "Changes of the level"
