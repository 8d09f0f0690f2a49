// Ace modes for query templates: JSON and Solr parameters, both with placeholders (#$query##) and knobs (##boost##).

const { ace } = window;
const { Mode: JsonMode } = ace.require("ace/mode/json");
const { JsonHighlightRules } = ace.require("ace/mode/json_highlight_rules");
const { Mode: TextMode } = ace.require("ace/mode/text");
const { TextHighlightRules } = ace.require("ace/mode/text_highlight_rules");

const SLOT = { token: "slot", regex: /#\$[\w.]+(?:\|[^#&"\\\r\n]*)?##|##\w+##/ };

class JsonTemplateRules extends JsonHighlightRules {
  constructor() {
    super();
    for (const rules of Object.values(this.$rules)) rules.unshift(SLOT); // also inside strings
  }
}

class ParamsRules extends TextHighlightRules {
  constructor() {
    super();
    this.$rules = {
      start: [
        SLOT,
        { token: ["text", "parameter", "operator"], regex: /^(\s*&?)([^=&\s#{]+)(=)/ },
        { token: ["operator", "parameter", "operator"], regex: /(&)([^=&\s#]+)(=)/ },
        { token: "keyword", regex: /\{![^}]*\}/ }, // local parameters: {!edismax}
        { token: "constant.numeric", regex: /[\^~]-?\d[\d.]*/ }, // boosts and distances
        { token: "string", regex: /"(?:[^"\\#]|\\.)*"/ },
      ],
    };
  }
}

class JsonTemplateMode extends JsonMode {
  constructor() {
    super();
    this.HighlightRules = JsonTemplateRules;
  }
}

class ParamsMode extends TextMode {
  constructor() {
    super();
    this.HighlightRules = ParamsRules;
    this.$behaviour = this.$defaultBehaviour;
    this.$id = "relevancy/params";
  }
}

/** The modes of query templates by the syntax that the server names. */
export const TEMPLATE_MODES = { json: () => new JsonTemplateMode(), params: () => new ParamsMode() };
