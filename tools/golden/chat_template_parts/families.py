"""How the templates of published model families behave, written anew: the same constructs, none of the texts.

TEMPLATES[name] is rendered for every conversation of CONVERSATIONS."""

TEMPLATES = {}

TEMPLATES["chatml"] = """{% for m in messages %}{{ '<|s|>' + m['role'] + '\\n' + m['content'] + '<|e|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|s|>assistant\\n' }}{% endif %}"""

TEMPLATES["chatml_default_system"] = """{%- if messages[0]['role'] != 'system' -%}
  {{- '<|s|>system\\nBe helpful.<|e|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
  {%- if loop.first and message.role == 'system' and not message.content -%}{%- continue -%}{%- endif -%}
  {{- '<|s|>' ~ message.role ~ '\\n' ~ (message.content | trim) ~ '<|e|>\\n' -}}
{%- endfor -%}
{{- '<|s|>assistant\\n' if add_generation_prompt else '' -}}"""

TEMPLATES["llama2"] = """{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system = false %}{% endif %}{% for m in loop_messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('user and assistant must take turns') }}{% endif %}{% if loop.index0 == 0 and system != false %}{% set content = '<<S>>\\n' + system + '\\n<</S>>\\n\\n' + m['content'] %}{% else %}{% set content = m['content'] %}{% endif %}{% if m['role'] == 'user' %}{{ bos_token + '[I] ' + content.strip() + ' [/I]' }}{% elif m['role'] == 'assistant' %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"""

TEMPLATES["llama3_tools"] = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not tools_in_user is defined %}
    {%- set tools_in_user = true %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "1 Jan 2000" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<h>system</h>\\n\\n" }}
{%- if tools is not none %}
    {{- "Env: python\\n" }}
{%- endif %}
{{- "Today: " + date_string + "\\n\\n" }}
{%- if tools is not none and not tools_in_user %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}{{- "<eot>" }}
{%- if tools_in_user and not tools is none %}
    {%- if messages | length != 0 %}
        {%- set first = messages[0]['content']|trim %}
        {%- set messages = messages[1:] %}
    {%- else %}
        {{- raise_exception("no first user message to put tools in") }}
    {%- endif %}
    {{- '<h>user</h>\\n\\n' -}}
    {{- "Use these functions.\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
    {{- first + "<eot>"}}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'tool' or message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<h>' + message['role'] + '</h>\\n\\n'+ message['content'] | trim + '<eot>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("only one call at a time") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<h>assistant</h>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<eot>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<h>ipython</h>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable and message.content is not string %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<eot>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<h>assistant</h>\\n\\n' }}
{%- endif %}
"""

TEMPLATES["mistral_tools"] = """{%- if messages[0]["role"] == "system" %}{%- set sys = messages[0]["content"] %}{%- set loop_messages = messages[1:] %}{%- else %}{%- set loop_messages = messages %}{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(index=0) %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("roles must alternate user and assistant") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[TOOLS][" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/TOOLS]" }}
        {%- endif %}
        {%- if loop.last and sys is defined %}
            {{- "[I]" + sys + "\\n\\n" + message["content"] + "[/I]" }}
        {%- else %}
            {{- "[I]" + message["content"] + "[/I]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[CALLS][" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}
                {{- raise_exception("ids of calls have nine characters") }}
            {%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}
            {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}
            {%- set content = message.content.content %}
        {%- else %}
            {%- set content = message.content %}
        {%- endif %}
        {{- '[RESULTS]{"content": ' + content|string + ", " }}
        {{- '"call_id": "' + message.tool_call_id + '"}[/RESULTS]' }}
    {%- else %}
        {{- raise_exception("unknown role " ~ message.role) }}
    {%- endif %}
{%- endfor %}
"""

TEMPLATES["qwen_tools"] = """{%- if tools %}
    {{- '<|s|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] }}
    {%- else %}
        {{- 'Default system.' }}
    {%- endif %}
    {{- "\\n\\n# Tools\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n{\\"name\\": <n>, \\"arguments\\": <a>}<|e|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|s|>system\\n' + messages[0]['content'] + '<|e|>\\n' }}
    {%- else %}
        {{- '<|s|>system\\nDefault system.<|e|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|s|>' + message.role + '\\n' + message.content + '<|e|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|s|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\\n<call>\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments | tojson }}
            {{- '}\\n</call>' }}
        {%- endfor %}
        {{- '<|e|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|s|>user' }}
        {%- endif %}
        {{- '\\n<response>\\n' }}
        {{- message.content }}
        {{- '\\n</response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|e|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|s|>assistant\\n' }}
{%- endif %}
"""

TEMPLATES["qwen3_thinking"] = """{%- set ns = namespace(multi_step=true, last_query=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step and message.role == "user" and message.content is string and not(message.content.startswith('<response>') and message.content.endswith('</response>')) %}
        {%- set ns.multi_step = false %}
        {%- set ns.last_query = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if message.role == "user" or message.role == "system" %}
        {{- '<|s|>' + message.role + '\\n' + content + '<|e|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|s|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|s|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|s|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<call>{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}</call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|e|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (loop.previtem.role != "tool") %}{{- '<|s|>user' }}{%- endif %}
        {{- '\\n<response>' + content + '</response>' }}
        {%- if loop.last or (loop.nextitem.role != "tool") %}{{- '<|e|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|s|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

TEMPLATES["gemma"] = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role here') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<turn>' + role + '\\n' + message['content'] | trim + '</turn>\\n' }}{% endfor %}{% if add_generation_prompt %}{{'<turn>model\\n'}}{% endif %}"""

TEMPLATES["gemma3_content_parts"] = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set prefix = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- set role = "model" if message['role'] == 'assistant' else message['role'] -%}
    {{ '<turn>' + role + '\\n' + (prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("what content is this?") }}
    {%- endif -%}
    {{ '</turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<turn>model\\n'}}
{%- endif -%}
"""

TEMPLATES["phi3"] = """{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<sys>\\n' + message['content'] + '<end>\\n'}}{% elif message['role'] == 'user' %}{{'<user>\\n' + message['content'] + '<end>\\n'}}{% elif message['role'] == 'assistant' %}{{'<bot>\\n' + message['content'] + '<end>\\n'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<bot>\\n' }}{% else %}{{ eos_token }}{% endif %}"""

TEMPLATES["deepseek"] = """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% set ns = namespace(is_first=true, is_tool=false, is_output_first=true, system='') %}{%- for message in messages %}{%- if message['role'] == 'system' %}{%- if ns.is_first %}{% set ns.system = ns.system + message['content'] %}{% set ns.is_first = false %}{%- else %}{% set ns.system = ns.system + '\\n\\n' + message['content'] %}{%- endif %}{%- endif %}{%- endfor %}{{ bos_token }}{{ ns.system }}{%- for message in messages %}{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{'<U>' + message['content']}}{%- endif %}{%- if message['role'] == 'assistant' and 'tool_calls' in message %}{%- set ns.is_tool = false -%}{%- for tool in message['tool_calls'] %}{%- if loop.first %}{{'<A><calls>' + tool['type'] + '<sep>' + tool['function']['name'] + '\\n' + '```json' + '\\n' + tool['function']['arguments'] | tojson + '\\n' + '```'}}{%- else %}{{'\\n' + tool['type'] + '<sep>' + tool['function']['name']}}{%- endif %}{%- endfor %}{{'</calls>' + eos_token}}{%- endif %}{%- if message['role'] == 'assistant' and 'tool_calls' not in message %}{%- if ns.is_tool %}{{'</outs>' + message['content'] + eos_token}}{%- set ns.is_tool = false -%}{%- else %}{% set content = message['content'] %}{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}{{'<A>' + content + eos_token}}{%- endif %}{%- endif %}{%- if message['role'] == 'tool' %}{%- set ns.is_tool = true -%}{%- if ns.is_output_first %}{{'<outs><out>' + message['content'] + '</out>'}}{%- set ns.is_output_first = false %}{%- else %}{{'\\n<out>' + message['content'] + '</out>'}}{%- endif %}{%- endif %}{%- endfor -%}{% if ns.is_tool %}{{'</outs>'}}{% endif %}{% if add_generation_prompt and not ns.is_tool %}{{'<A><think>\\n'}}{% endif %}"""
