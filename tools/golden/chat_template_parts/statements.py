"""Templates of several constructs, and templates that fail; a line "---" stands between two of them."""

TEMPLATES = r"""
{% for i in l %}{{ i }}{% if not loop.last %}, {% endif %}{% endfor %}
---
{% for i in l %}
{{ loop.index }}/{{ loop.index0 }}/{{ loop.revindex }}/{{ loop.revindex0 }}/{{ loop.first }}/{{ loop.last }}/{{ loop.length }}/{{ loop.depth }}/{{ loop.previtem }}/{{ loop.nextitem }}/{{ loop.cycle('a', 'b') }}/{{ loop.changed(i > 1) }}
{% endfor %}
---
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}|{% for k, v in d|dictsort %}{{ k }}{% endfor %}|{% for k in d %}{{ k }}{% endfor %}
---
{% for x in [] %}a{% else %}none{% endfor %}|{% for x in l if x > 5 %}a{% else %}no match{% endfor %}|{% for x in undefd %}a{% else %}undefined{% endfor %}
---
{% for x in range(10) if x is odd %}{{ loop.index }}:{{ x }}/{{ loop.length }}{{ "," if not loop.last }}{% endfor %}
---
{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}|{% for x in [1] %}{% break %}{% else %}e{% endfor %}|{% for x in [1, 2] %}{% continue %}{% else %}e{% endfor %}|{% for x in [1, 2] %}{% if x == 2 %}{% break %}{% endif %}{% else %}e{% endfor %}|{% for x in [1] if x > 1 %}{% else %}e{% endfor %}
---
{% for a in [[1, 2], [3, 4]] %}{% for b in a %}{{ loop.index }}{{ b }}{% if b == 1 %}{% continue %}{% endif %}.{% endfor %}-{{ loop.index }}{% endfor %}
---
{% set x = 1 %}{% for i in l %}{% set x = x + i %}{{ x }},{% endfor %}{{ x }}
---
{% set ns = namespace(x=1, found=false) %}{% for i in l %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }} {{ ns.found }}{% set ns.y = [1] %}{{ ns.y }}
---
{% if n > 5 %}{% set x = 'in if' %}{% endif %}{{ x }}{% if false %}{% set y = 1 %}{% endif %}{{ y is defined }}
---
{% if false %}{% set name = 1 %}{% endif %}{{ name }}{% for i in [1] %}{% if false %}{% set name = 2 %}{% endif %}{{ name }}{% set name = 3 %}{{ name }}{% endfor %}{{ name }}
---
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (c, d2) = (3, 4) %}{{ c }}{{ d2 }}{% set t = 1, %}{{ t }}{% set ns = namespace() %}{% set ns.p, q = 5, 6 %}{{ ns.p }}{{ q }}
---
{% set x %}block {{ n }}{% endset %}[{{ x }}]{% set y | upper | trim %} abc {% endset %}[{{ y }}]{% set ns = namespace() %}{% set ns.z %}zz{% endset %}{{ ns.z }}
---
{% macro f(a, b=2, c='x') %}({{ a }},{{ b }},{{ c }}){% endmacro %}{{ f(1) }}{{ f(1, 3) }}{{ f(1, c=5) }}{{ f(a=7) }}{{ f() }}{{ f(b=1) }}{{ f(*[1, 2]) }}{{ f(**{'a': 9}) }}
---
{% macro f(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, z=4) }}{{ f.name }}{{ f.arguments }}{{ f.catch_kwargs }}{{ f.catch_varargs }}{{ f.caller }}
---
{% macro wrap(t) %}<{{ t }}>{{ caller() }}</{{ t }}>{% endmacro %}{% call wrap('b') %}body {{ n }}{% endcall %}
---
{% macro each(xs) %}{% for x in xs %}{{ caller(x, loop.index) }}{% endfor %}{% endmacro %}{% call(v, i=0) each(l) %}[{{ i }}:{{ v }}]{% endcall %}
---
{% macro fact(k) %}{% if k < 2 %}1{% else %}{{ k * (fact(k - 1) | int) }}{% endif %}{% endmacro %}{{ fact(10) }}
---
{% macro t(s) %}{% if s is mapping %}{ {% for k, v in s.items() %}{{ k }}: {{ t(v) }}{{ ", " if not loop.last }}{% endfor %} }{% elif s is sequence and s is not string %}[{% for v in s %}{{ t(v) }}{{ "," if not loop.last }}{% endfor %}]{% else %}{{ s }}{% endif %}{% endmacro %}{{ t(nested) }}{{ t(users) }}
---
{% set x = 1 %}{% macro f() %}{{ x }}{% set x = 2 %}{{ x }}{% endmacro %}{{ f() }}{{ x }}{% set x = 5 %}{{ f() }}
---
{% for i in [1, 2] %}{% macro g() %}{{ i }}{% endmacro %}{{ g() }}{% endfor %}{{ g is defined }}
---
{% macro f(a=n, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ f() }}{{ f(3) }}
---
{% macro f(x) %}{{ x }}{% endmacro %}{{ f }}|{{ f is callable }}|{{ f('a') | upper }}|{{ [f(1), f(2)] }}
---
{% with a = 1, b = n %}{{ a }}{{ b }}{% set c = 3 %}{{ c }}{% endwith %}{{ a is defined }}{{ c is defined }}
---
{% filter upper %}abc {{ name }}{% endfilter %}|{% filter replace('a', 'b') | trim %} aaa {% endfilter %}|
---
{% raw %}{{ not }} {% if %}{% endraw %}|{% raw -%}  x {{ y }}  {%- endraw %}|
---
a {# comment #} b {#- strip -#} c
{# line #}
d
---
  {% if true %}
    indented
  {% endif %}
end
---
a   {%- if true -%}   b   {%- endif -%}   c
---
a  {%+ if true %}
  b {%+ endif +%}
c
---
  {{ n }}
  {{- n }}
{{ n -}}   
  x
---
{% for m in users %}
{{ m.name }}:
    {% for t in m.tags %}
    - {{ t }}
    {% endfor %}
{% endfor %}
---
{%- for m in users -%}
  {{- m['name'] + '\n' -}}
{%- endfor -%}
---
{{ 'a' }}
{{ 'b' }}

---
	{% set x = 1 %}	tab
---
x{% set y = 2 %}
y
---
{# a #}{# b #}
z
---
{% if n == 1 %}one{% elif n == 7 %}seven{% elif n %}other{% else %}zero{% endif %}{% if undefd %}u{% endif %}{% if not undefd %}nu{% endif %}
---
{% if n, zero %}tuple is true{% endif %}
---
{% for item in tree recursive %}x{% endfor %}{% for u in [{'n': 1, 'c': [{'n': 2, 'c': [{'n': 3}]}]}, {'n': 4}] recursive %}{{ u.n }}@{{ loop.depth }}{% if u.c %}({{ loop(u.c) }}){% endif %}{% endfor %}
---
{% generation %}made {{ n }}{% set gen = 1 %}{% endgeneration %}{{ gen is defined }}
---
{% for m in users %}{%- generation -%} {{ m.name }} {%- endgeneration -%}{% endfor %}
---
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.current }}{% set j = joiner() %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}
---
{% set g = l | select('gt', 1) %}{% for x in g %}{{ x }}{{ loop.last }}{% endfor %}|{% for x in g %}again{% endfor %}|{% set h = l | map('string') %}{{ h | first }}{{ h | list }}
---
{% set g = ls | map('upper') %}{% for x in g %}{{ x }}{{ loop.length }}{{ loop.index }}{{ loop.nextitem }}{% endfor %}
---
{% for ch in uni %}{{ ch }}|{% endfor %}
---
{% set msg = {'role': 'user'} %}{{ msg.role }}{{ msg['role'] }}{{ msg.get('content', 'nope') }}{{ msg.content }}{{ 'content' in msg }}{{ msg.content is defined and msg.content is not none }}
---
{% if users[0].at.city is defined and users[0].zip is not defined %}ok{% endif %}{{ (users | last).name }}{{ users[-1]['name'] }}{{ users[1:] | length }}{{ users[::-1][0].name }}
---
{% set ns = namespace(multi=true, last=users|length - 1) %}{% for u in users[::-1] %}{% set index = (users|length - 1) - loop.index0 %}{% if ns.multi and u.age == 30 and not (u.name.startswith('B') and u.name.endswith('b')) %}{% set ns.multi = false %}{% set ns.last = index %}{% endif %}{% endfor %}{{ ns.last }}{{ ns.multi }}
---
{% set content = think %}{% if '</think>' in content %}{% set reasoning = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}{% set content = content.split('</think>')[-1].lstrip('\n') %}{% endif %}[{{ reasoning }}][{{ content }}]
---
{{ 'a\
b' }}{{ "{%" }}{{ '}}' }}{{ "{#" }}{{ '%}' }}
---
{ { n } } {n} {{n}}{{ {'a': {'b': 1}} }}{{ {'a': 1}['a'] }}
---
{{ users | selectattr('age', 'equalto', 30) | map(attribute='name') | join('+') }}{{ users|map(attribute='age')|sum }}
---
{% for a, (b, c) in [(1, (2, 3)), (4, [5, 6])] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for a, b in ['xy', 'zw'] %}{{ b }}{{ a }}{% endfor %}
---
{% macro a() %}[{{ caller() if caller else 'none' }}]{% endmacro %}{{ a() }}{% call a() %}in{% call a() %}deep{% endcall %}{% endcall %}
---
{% if 'x' is nosuchtest %}a{% endif %}never
---
{% if false %}{{ 1 | nosuchfilter }}{% endif %}ok{{ 1 if true else (2 | nosuchfilter) }}
---
{% set x = [] %}{% for i in range(3) %}{% set x = x + [i] %}{% endfor %}{{ x }}{% set ns = namespace(x=[]) %}{% for i in range(3) %}{% set ns.x = ns.x + [i * 2] %}{% endfor %}{{ ns.x }}
---
line one\nnot a newline
last line ends

---
{% for u in users %}{{ u.name }}{% if not loop.last %}{{ '\n' }}{% endif %}{% endfor %}

---
{{ n
   + 1 }}{{ [
  1,
  2,
] }}{% set m = {
  "a": 1,
  'b': [2,
    3],
} %}{{ m }}
---
{% for k, v in users[0] | dictsort %}{{ k }}{% endfor %}{% for g, us in users | groupby('age') %}{{ g }}:{% for u in us %}{{ u.name }}{% endfor %};{% endfor %}{% for g in users | groupby('age') %}{{ g.grouper }}={{ g.list | length }} {% endfor %}
""".strip("\n").split("\n---\n")

# Templates that fail.
ERRORS = r"""
{{ undefd.x }}
---
a
{{ undefd.x.y }}
---


{{ d.zz.y }}
---
{{ d.zz() }}
---
{{ undefd() }}
---
{{ undefd + 1 }}
---
{{ 1 - undefd }}
---
{{ -undefd }}
---
{{ undefd < 1 }}
---
{{ undefd | int }}
---
{{ l[9].x }}
---
{{ l['a'].x }}
---
{{ nothing.x.y }}
---
{{ name.nope() }}
---
{{ n.x.y }}
---
{{ (1 if false).x }}
---
{% macro f(a) %}{{ a.x }}{% endmacro %}
{{ f() }}
---
{% macro f(a) %}

{{ a.x }}{% endmacro %}
{{ f(undefd) }}
---
{{ d.update({'x': 1}) }}
---
{{ l.append(1) }}
---
{{ ''.__class__.__mro__ }}
---
{{ l | first | last | nosuch }}
---
{% for x in l %}{{ x is nosuch }}{% endfor %}
---
{% if true %}
{{ 1 | nosuch }}{% endif %}
---
{{ l | map('nosuch') | list }}
---
{{ l | select('nosuch') | list }}
---
{{ raise_exception('roles must alternate') }}
---
{% for m in l %}
  {% if m == 1 %}
    {{ raise_exception('bad ' ~ m) }}
  {% endif %}
{% endfor %}
---
{{ 1 + 'a' }}
---
{{ 'a' + 1 }}
---
{{ [1] + (2,) }}
---
{{ none + 1 }}
---
{{ 1 < 'a' }}
---
{{ 1 / 0 }}
---
{{ 1 // 0 }}
---
{{ 1 % 0 }}
---
{{ 'a' in 5 }}
---
{{ 1 in 'abc' }}
---
{{ {[1]: 2} }}
---
{{ n() }}
---
{{ name.split('') }}
---
{{ 'a'.join([1]) }}
---
{{ 'x'.index('y') }}
---
{{ l.index(9) }}
---
{% for x in 5 %}{% endfor %}
---
{% for a, b in [[1]] %}{% endfor %}
---
{% for a, b in [[1, 2, 3]] %}{% endfor %}
---
{% set a, b = 5 %}
---
{{ (l | select) | length }}
---
{{ l | sort(attribute='x.y') }}
---
{{ [1, 'a'] | sort }}
---
{{ 'abc' | abs }}
---
{{ undefd | tojson }}
---
{{ {'a': undefd} | tojson }}
---
{{ range(100001) }}
---
{{ range(1, 2, 0) }}
---
{{ name[::0] }}
---
{{ name['a':] }}
---
{{ '%d' % 'x' }}
---
{{ '%s %s' % 'x' }}
---
{{ '%s' % (1, 2) }}
---
{{ '{} {}'.format(1) }}
---
{{ '{x}'.format() }}
---
{{ '{:d}'.format('x') }}
---
{% set d.x = 1 %}
---
{% set undefd.x = 1 %}
---
{% set ns = namespace() %}
{% set ns._x = 1 %}
---
{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}
---
{% macro f(a) %}{% endmacro %}{{ f(b=1) }}
---
{{ loop.index }}
---
{% for x in l %}{{ loop() }}{% endfor %}
---
{{ loop.cycle() }}
---
{% for x in l %}{{ loop.cycle() }}{% endfor %}
---
{{ d | items | first | nope }}
---
{{ l | items | list }}
---
{{ 5 | list }}
---
{{ l | dictsort }}
---
{{ d | dictsort(by='x') }}
---
{{ 1.5 | round(0, 'x') }}
---
{{ l | map | list }}
---
{{ l | selectattr | list }}
---
{{ l | map(attribute='x', foo=1) | list }}
---
{{ namespace(_a=1) }}
---
{% if true %}
---
{% for x in l %}
a
---
{% endif %}
---
{% if true %}{% endfor %}
---
{% for x in l %}{% if x %}{% endfor %}
---
{% foo %}
---
{% if true %}{% foo %}{% endif %}
---
{{ 1 + }}
---
{{ }}
---
{% if %}{% endif %}
---
{% for in l %}{% endfor %}
---
{% for x l %}{% endfor %}
---
{% set = 1 %}
---
{% set 1 = 2 %}
---
{% set true = 2 %}
---
{% set x.y.z = 2 %}
---
{{ a b }}
---
{{ (1, 2 }}
---
{{ [1, 2 }}
---
{{ 1) }}
---
{{ {'a' 1} }}
---
{{ 'abc }}
---
{{ a ? b }}
---
a
b {{ name
---
{% if name
---
{# never closed
---
x
{% raw %} abc
---
{{ a.b. }}
---
{{ a.'b' }}
---
{{ a | }}
---
{{ a is }}
---
{{ 1 is odd is even }}
---
{% macro f(a=1, b) %}{% endmacro %}
---
{% macro (a) %}{% endmacro %}
---
{{ f(a=1, 2) }}
---
{{ f(**a, *b) }}
---
{% call 5 %}{% endcall %}
---
{% call foo %}{% endcall %}
---
{% for loop in l %}{% endfor %}
---
{% for x in l %}{% set loop = 1 %}{% endfor %}
---
{{ "\x4" }}
---
{{ "\u12" }}
---
{% if true %}{% else %}{% else %}{% endif %}
---
{% elif true %}
---
{{ x[1:2:3:4] }}
---
{{ f"x" }}
---
{% 5 %}
---
{% set x %}abc
---
{% filter nosuch %}a{% endfilter %}
""".strip("\n").split("\n---\n")
