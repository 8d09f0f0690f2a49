from relevancy import hooks  # a second AppConfig in this module would be one too many for Django


class GroupsConfig(hooks.OptionalApp):
    name = "relevancy.optional.groups"
    verbose_name = "Groups of cases"
