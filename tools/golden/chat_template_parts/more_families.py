"""More families, as families.py; and the conversations that all templates are rendered for."""

TEMPLATES = {}

TEMPLATES["command_r_tools_documents"] = """{%- macro json_type(spec) -%}
    {%- if spec.type == 'array' -%}{{ 'List[' + (json_type(spec['items']) if spec['items'] is defined else 'Any') + ']' }}
    {%- elif spec.type == 'object' -%}Dict
    {%- else -%}{{ {'string': 'str', 'integer': 'int', 'number': 'float', 'boolean': 'bool'}[spec.type] | default(spec.type) }}
    {%- endif -%}
{%- endmacro -%}
{%- macro describe(tool) -%}
def {{ tool.name }}({% for param, spec in tool.parameters.properties.items() %}{{ param }}: {% if not param in tool.parameters.required %}Optional[{{ json_type(spec) }}] = None{% else %}{{ json_type(spec) }}{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}) -> List[Dict]:
    \\"\\"\\"{{ tool.description }}
{%- for param, spec in tool.parameters.properties.items() %}
{{ "
    Args:" if loop.first else "" }}
        {{ param }} ({{ json_type(spec) }}): {{ spec.description | default('-') }}
{%- endfor %}
    \\"\\"\\"
    pass
{%- endmacro -%}
{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set sys = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set sys = '## Task' %}{% endif %}
{{- '<sys>' + sys -}}
{%- if tools -%}
{% for tool in tools %}{% if loop.first %}{{ '\\n\\n## Tools\\n' }}{% endif %}```python
{{ describe(tool.function) }}
```{% if not loop.last %}{{ '\\n\\n' }}{% endif %}{% endfor %}
{%- endif -%}
{%- if documents -%}
{{ '\\n<results>\\n' }}
{%- for document in documents -%}
Document: {{ loop.index0 }}
{% for key, value in document.items() %}{{ key }}: {{ value }}
{% endfor %}
{%- endfor -%}
{{ '</results>' }}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- set content = message['content'] -%}
    {%- if message.role == 'user' -%}{{ '<U>' + content.strip() + '</U>' }}
    {%- elif message.role == 'assistant' and message.tool_calls -%}
        {{ '<A>Action: ```json\\n[' }}{%- for call in message.tool_calls -%}{{ {'tool_name': call.function.name, 'parameters': call.function.arguments} | tojson(indent=4) | indent(4, first=true) }}{{ ',\\n' if not loop.last }}{%- endfor -%}{{ ']```</A>' }}
    {%- elif message.role == 'assistant' -%}{{ '<A>' + content.strip() + '</A>' }}
    {%- elif message.role in ['tool', 'tool_results'] -%}{{ '<R>' + content | string + '</R>' }}
    {%- endif -%}
{%- endfor -%}
{{ '<A>' if add_generation_prompt else '' }}"""

TEMPLATES["hermes_recursive_schema"] = """{%- macro json_to_python_type(json_spec) %}
{%- set basic = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"} %}
{%- if basic[json_spec.type] is defined %}
    {{- basic[json_spec.type] }}
{%- elif json_spec.type == "array" %}
    {{- "list[" + json_to_python_type(json_spec|items|selectattr(0, 'eq', 'items')|map('last')|first) + "]" }}
{%- elif json_spec.type == "object" %}
    {%- if json_spec.additionalProperties is defined %}
        {{- "dict[str, " + json_to_python_type(json_spec.additionalProperties) + ']' }}
    {%- else %}
        {{- "dict" }}
    {%- endif %}
{%- elif json_spec.type is iterable and json_spec.type is not string %}
    {{- "Union[" }}
    {%- for t in json_spec.type %}
        {{- json_to_python_type({"type": t}) }}
        {%- if not loop.last %}{{- "," }}{%- endif %}
    {%- endfor %}
    {{- "]" }}
{%- else %}
    {{- "Any" }}
{%- endif %}
{%- endmacro %}
{{- bos_token }}
{{- '<|s|>system\\nYou call functions. <tools> ' }}
{%- for tool in tools %}
    {%- if tool.function is defined %}{%- set tool = tool.function %}{%- endif %}
    {{- '{"type": "function", "function": {"name": "' + tool.name + '", "description": "' + tool.name + '(' }}
    {%- for param_name, param_fields in tool.parameters.properties|items %}
        {{- param_name + ": " + json_to_python_type(param_fields) }}
        {%- if not loop.last %}{{- ", " }}{%- endif %}
    {%- endfor %}
    {{- ")" }}
    {%- if tool.return is defined %}{{- " -> " + json_to_python_type(tool.return) }}{%- endif %}
    {{- " - " + tool.description + "\\n\\n" }}
    {%- for param_name, param_fields in tool.parameters.properties|items %}
        {%- if loop.first %}{{- "    Args:\\n" }}{%- endif %}
        {{- "        " + param_name + "(" + json_to_python_type(param_fields) + "): " + (param_fields.description | default('')|trim) + "\\n" }}
    {%- endfor %}
    {{- '", "parameters": ' }}
    {%- if tool.parameters.properties | length == 0 %}{{- "{}" }}{%- else %}{{- tool.parameters|tojson }}{%- endif %}
    {{- "}}" }}
    {%- if not loop.last %}{{- "\\n" }}{%- endif %}
{%- endfor %}
{{- " </tools><|e|>\\n" }}
{%- for message in messages %}
    {%- if message.role == "user" or message.role == "system" or (message.role == "assistant" and message.tool_calls is not defined) %}
        {{- '<|s|>' + message.role + '\\n' + message.content + '<|e|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|s|>' + message.role }}
        {%- for tool_call in message.tool_calls %}
            {{- '\\n<tool_call>\\n' }}
            {%- if tool_call.function is defined %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- '{"name": "' ~ tool_call.name ~ '", "arguments": ' ~ tool_call.arguments|tojson ~ '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|e|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.previtem and loop.previtem.role != "tool" %}{{- '<|s|>tool\\n' }}{%- endif %}
        {{- '<tool_response>\\n' }}{{- message.content }}
        {%- if not loop.last %}{{- '\\n</tool_response>\\n' }}{%- else %}{{- '\\n</tool_response>' }}{%- endif %}
        {%- if not loop.last and loop.nextitem.role != "tool" %}{{- '<|e|>' }}{%- elif loop.last %}{{- '<|e|>' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|s|>assistant\\n' }}{%- endif %}
"""

TEMPLATES["granite"] = """{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}{%- set loop_messages = messages[1:] %}{%- else %}{%- set system_message = "Knowledge cut: April 2024.\\nToday: " + strftime_now('%B %d, %Y') + ".\\n" %}{%- if tools and documents %}{%- set system_message = system_message + "Tools and documents." %}{%- elif tools %}{%- set system_message = system_message + "Tools." %}{%- elif documents %}{%- set system_message = system_message + "Documents." %}{%- elif thinking %}{%- set system_message = system_message + "Think." %}{%- endif %}{%- if 'citations' in controls and documents %}{%- set system_message = system_message + ' Cite.' %}{%- endif %}{%- set loop_messages = messages %}{%- endif %}{{- '<r>system</r>' + system_message + '<x>\\n' }}{%- if tools %}{{- '<r>tools</r>' }}{{- tools | tojson(indent=4) }}{{- '<x>\\n' }}{%- endif %}{%- if documents %}{{- '<r>documents</r>' }}{%- for document in documents %}{{- 'Document ' + loop.index0 | string + '\\n' }}{{- document['text'] }}{%- if not loop.last %}{{- '\\n\\n'}}{%- endif%}{%- endfor %}{{- '<x>\\n' }}{%- endif %}{%- for message in loop_messages %}{{- '<r>' + message['role'] + '</r>' + message['content'] + '<x>\\n' }}{%- if loop.last and add_generation_prompt %}{{- '<r>assistant' }}{%- if controls %}{{- ' ' + controls | tojson()}}{%- endif %}{{- '</r>' }}{%- endif %}{%- endfor %}"""

TEMPLATES["smollm3"] = """{# defaults #}
{%- if enable_thinking is not defined -%}
{%- set enable_thinking = true -%}
{%- endif -%}
{%- if enable_thinking -%}{%- set mode = "/think" -%}{%- else -%}{%- set mode = "/no_think" -%}{%- endif -%}
{{- "<|s|>system\\n" -}}
{%- if messages[0].role == "system" -%}
  {%- set system_message = messages[0].content -%}
  {%- if "/no_think" in system_message -%}
    {%- set mode = "/no_think" -%}
  {%- elif "/think" in system_message -%}
    {%- set mode = "/think" -%}
  {%- endif -%}
  {%- set custom = system_message.replace("/no_think", "").replace("/think", "").rstrip() -%}
{%- endif -%}
{%- if "/system_override" in system_message -%}
  {{- custom.replace("/system_override", "").rstrip() -}}
{%- else -%}
  {%- set today = strftime_now("%d %B %Y") -%}
  {{- "## Meta\\n\\nDate: " ~ today ~ "\\nMode: " + mode + "\\n\\n" -}}
  {%- if custom -%}{{- "## Custom\\n" + custom + "\\n\\n" -}}{%- endif -%}
  {%- if xml_tools or python_tools or tools -%}
    {%- set ns = namespace(xml_tool_string="<tools>\\n") -%}
    {%- for tool in (xml_tools or tools)[:] -%}
      {%- set ns.xml_tool_string = ns.xml_tool_string ~ (tool | string) ~ "\\n" -%}
    {%- endfor -%}
    {{- ns.xml_tool_string + "</tools>" -}}
  {%- endif -%}
{%- endif -%}
{{- "<|e|>\\n" -}}
{%- for message in messages -%}
    {%- set content = message.content if message.content is string else "" -%}
    {%- if message.role == "user" -%}
        {{ "<|s|>" + message.role + "\\n"  + content + "<|e|>\\n" }}
    {%- elif message.role == "assistant" -%}
        {% generation %}
        {%- if mode == "/think" -%}
            {{ "<|s|>assistant\\n" + content.lstrip("\\n") + "<|e|>\\n" }}
        {%- else -%}
            {{ "<|s|>assistant\\n" + "<think>\\n\\n</think>\\n" + content.lstrip("\\n") + "<|e|>\\n" }}
        {%- endif -%}
        {% endgeneration %}
    {%- elif message.role == "tool" -%}
    {{ "<|s|>" + "user\\n"  + content + "<|e|>\\n" }}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {%- if mode == "/think" -%}
        {{ "<|s|>assistant\\n" }}
    {%- else -%}
        {{ "<|s|>assistant\\n" + "<think>\\n\\n</think>\\n"  }}
    {%- endif -%}
{%- endif -%}
"""

TEMPLATES["falcon"] = """{% for message in messages %}{% if not loop.first %}{{ '\\n' }}{% endif %}{% if message['role'] == 'system' %}{{ 'System: ' + message['content'].replace('\\r\\n', '\\n').replace('\\n\\n', '\\n') }}{% elif message['role'] == 'user' %}{{ 'User: ' + message['content'] | replace('\\n\\n', '\\n') }}{% elif message['role'] == 'assistant' %}{{ 'Falcon: ' ~ message['content'] }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '\\n' + 'Falcon:' }}{% endif %}"""

TEMPLATES["zephyr"] = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

TEMPLATES["openchat"] = """{{ bos_token }}{% for message in messages %}{{ 'GPT4 Correct ' + message['role'].title() + ': ' + message['content'] + '<|end|>'}}{% endfor %}{% if add_generation_prompt %}{{ 'GPT4 Correct Assistant:' }}{% endif %}"""

TEMPLATES["vicuna"] = """{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] | trim + '\\n\\n' %}{% else %}{% set loop_messages = messages %}{% set system_message = '' %}{% endif %}{{ bos_token + system_message }}{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate: ' + messages | map(attribute='role') | join(', ')) }}{% endif %}{% if message['role'] == 'user' %}{{ 'USER: ' + message['content'] | trim + '\\n' }}{% elif message['role'] == 'assistant' %}{{ 'ASSISTANT: ' + message['content'] | trim + eos_token + '\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"""

TEMPLATES["olmo"] = """{{ eos_token }}{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

TEMPLATES["yi_internlm"] = """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% endif %}{{ bos_token if bos_token is defined else '' }}{% if system_message is defined %}{{ system_message }}{% endif %}{% for message in messages %}{% set content = message['content'] %}{% if message['role'] == 'user' %}{{ '<|s|>user\\n' + content + '<|e|>\\n<|s|>assistant\\n' }}{% elif message['role'] == 'assistant' %}{{ content + '<|e|>' + '\\n' }}{% endif %}{% endfor %}"""

TEMPLATES["stablelm_solar_functions"] = """{% macro role_tag(role, sep=': ') -%}
{{ '### ' ~ ({'user': 'User', 'assistant': 'Assistant', 'system': 'System'}.get(role, role | capitalize)) ~ sep }}
{%- endmacro %}
{% for message in messages if message.role != 'tool' %}{{ role_tag(message.role, sep=':\\n') }}{{ message.content | default('', true) | trim }}{% for call in message.tool_calls or [] %}{{ '\\n' ~ loop.index ~ '. ' ~ call.function.name ~ '(' }}{% for k, v in call.function.arguments | dictsort %}{{ k ~ '=' ~ (v | tojson) }}{{ ', ' if not loop.last else '' }}{% endfor %}{{ ')' }}{% endfor %}

{% else %}
nothing said
{% endfor %}{% if add_generation_prompt %}{{ role_tag('assistant', ':') }}{% endif %}"""

TEMPLATES["gpt_oss_types"] = """{%- macro render_type(spec, required=false) -%}
    {%- if spec.type == "array" -%}
        {%- if spec['items'] -%}
            {%- if spec['items']['type'] in ["string", "integer", "number"] -%}{{- {'string': 'string', 'integer': 'number', 'number': 'number'}[spec['items'].type] + "[]" }}{%- else -%}{{- "(" ~ render_type(spec['items']) ~ ")[]" }}{%- endif -%}
            {%- if spec.nullable %}{{- " | null" }}{%- endif %}
        {%- else -%}{{- "any[]" }}{%- endif -%}
    {%- elif spec.type is defined and spec.type is iterable and spec.type is not string and spec.type is not mapping and spec.type[0] is defined -%}
        {{- spec.type | join(" | ") }}
    {%- elif spec.oneOf -%}
        {%- for variant in spec.oneOf -%}{{- render_type(variant) -}}{%- if not loop.last %}{{- " | " }}{%- endif -%}{%- endfor -%}
    {%- elif spec.type == "string" and spec.enum -%}{{- '"' + spec.enum|join('" | "') + '"' -}}
    {%- elif spec.type == "object" and spec.properties -%}
        {{- "{ " -}}{%- for name, prop in spec.properties.items() -%}{{- name -}}{%- if name not in (spec.required or []) -%}{{- "?" }}{%- endif -%}{{- ": " }}{{ render_type(prop) }}{%- if not loop.last %}{{- ", " }}{%- endif -%}{%- endfor -%}{{- " }" -}}
    {%- else -%}{{- spec.type or 'any' }}{%- endif -%}
{%- endmacro -%}
{%- for tool in tools or [] %}{% set tool = tool.function %}
// {{ tool.description }}
type {{ tool.name }} = (_: {{ render_type(tool.parameters) }}) => any;
{% endfor %}
{%- set ns = namespace(last_call=none) -%}
{%- for message in messages -%}
{%- if message.role == 'assistant' and 'tool_calls' in message -%}
{%- set ns.last_call = message.tool_calls[0].function.name -%}{{- '<start>' ~ ns.last_call ~ '<msg>' ~ message.tool_calls[0].function.arguments | tojson ~ '<call>' -}}
{%- elif message.role == 'tool' -%}
{%- if ns.last_call is none %}{{- raise_exception("a tool's answer comes after a call") }}{%- endif -%}
{{- '<start>functions.' + ns.last_call + '<msg>' + message.content | tojson + '<end>' -}}
{%- elif 'thinking' in message and not loop.last and not message.tool_calls -%}{{- '<think>' ~ message.thinking ~ '<end>' ~ message.content -}}
{%- else -%}{{- '<start>' ~ message.role ~ '<msg>' ~ (message.content if message.content is string else message.content | map(attribute='text') | select('defined') | join('\\n')) ~ '<end>' -}}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<start>assistant{%- endif -%}"""

TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather of a city.", "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "The city, e.g. \"Köln\""}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "days": {"type": "array", "items": {"type": "integer"}, "description": " which days "}}, "required": ["city"]}, "return": {"type": "number"}}},
    {"type": "function", "function": {"name": "now", "description": "The time", "parameters": {"type": "object", "properties": {
        "zone": {"type": ["string", "integer"]}, "map": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "boolean"}}},
        "o": {"type": "object", "properties": {"x": {"type": "number"}}}, "q": {"oneOf": [{"type": "null"}, {"type": "array", "items": {"type": "object"}}]}}}}},
]

CALL = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "call12345", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Köln", "days": [1, 2], "unit": None}}}]}

CONVERSATIONS = {
    "one": {"messages": [{"role": "user", "content": "Hello"}], "add_generation_prompt": True},
    "turns": {"messages": [{"role": "user", "content": " Hi there \n"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHello!"}, {"role": "user", "content": "日本語 😀 <b>\"q\"</b>"}],
              "add_generation_prompt": True},
    "system": {"messages": [{"role": "system", "content": "Be brief. /no_think"}, {"role": "user", "content": "a\r\n\n\nb"}, {"role": "assistant", "content": "c", "reasoning_content": "thought"},
                            {"role": "user", "content": "d"}, {"role": "assistant", "content": "e"}], "add_generation_prompt": False},
    "wrong_order": {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "add_generation_prompt": True},
    "tools": {"messages": [{"role": "user", "content": "Weather?"}, CALL, {"role": "tool", "name": "get_weather", "tool_call_id": "call12345", "content": "12.5"},
                           {"role": "assistant", "content": "It is 12.5."}, {"role": "user", "content": "Thanks"}], "tools": TOOLS, "add_generation_prompt": True},
    "two_results": {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"},
                                 {"role": "assistant", "content": "calling", "thinking": "which?", "tool_calls": CALL["tool_calls"] + [{"id": "call67890", "type": "function", "function": {"name": "now", "arguments": {}}}]},
                                 {"role": "tool", "tool_call_id": "call12345", "content": "1"}, {"role": "tool", "tool_call_id": "call67890", "content": "2"}], "tools": TOOLS[:1],
                    "documents": [{"title": "T", "text": "the text"}, {"title": "U", "text": "other"}], "add_generation_prompt": True,
                    "variables": {"enable_thinking": False, "controls": {"length": "short", "citations": True}, "date_string": "26 Jul 2024", "tools_in_user": False}},
    "parts": {"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " What is it? "}]}], "add_generation_prompt": True},
}
TOKENS = {"bos_token": "<bos>", "eos_token": "<eos>"}
