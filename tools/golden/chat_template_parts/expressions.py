"""Small templates, a construct each. VARIABLES is what all of them are given."""

VARIABLES = {
    "name": "Ada Lovelace", "empty": "", "blank": "  two  words \n", "n": 7, "neg": -7, "zero": 0, "f": 2.5, "big": 9007199254740993,
    "huge": 18446744073709551615, "yes": True, "no": False, "nothing": None, "uni": "Ünï café ß 日本語 😀 ΑΣ", "quote": "it's", "both": "a'b\"c",
    "lines": "one\ntwo\r\n\nfour\u2028five\x0bsix", "html": "<a href=\"x\">&'</a>", "csv": "a,b,,c", "path": "/usr//lib/",
    "l": [3, 1, 2], "ls": ["b", "A", "c", "a"], "nested": [[1, [2]], {"k": [True, None, 1.5]}], "el": [], "pairs": [["x", 1], ["y", 2]],
    "d": {"b": 1, "A": 2, "c": None, "items": "own", "1": "one"}, "ed": {},
    "users": [{"name": "Zoe", "age": 30, "tags": ["x"], "on": True, "at": {"city": "Rom"}}, {"name": "adam", "age": 25, "tags": [], "on": False, "at": {"city": "oslo"}},
              {"name": "Bob", "age": 30, "at": {"city": "rom"}}],
    "think": "<think>\nfirst\n</think>\n\nanswer", "control": "a\x00\x1b\x7f\xa0\u200b\ufeff\ue000", "x1": 1e16, "x2": 1e-5, "x3": 123456.789, "x4": 0.1, "x5": 1e22, "x6": -0.0,
}

# Each of these is put between {{ and }}.
EXPRESSIONS = r"""
name
1 + 2 * 3 - 4
7 // 2, -7 // 2, 7 // -2, 7.5 // 2, -7.5 // 2, 0.0 // -3
7 % 3, -7 % 3, 7 % -3, 7.5 % 2, -7.5 % 2, 7 % -2.5
2 ** 10, 2 ** -1, 2 ** 3 ** 2, -2 ** 2, 2 ** 0.5, 4 ** -0.5
7 / 2, 8 / 2, 1 / 3, -1 / 3
1 + 2.5, True + 1, True + True, 2 * True
'ab' * 3, 3 * 'ab', 'ab' * 0, 'ab' * -1, [1, 2] * 2, (1,) * 3
'a' + 'b' ~ 1 ~ None ~ 2.0 ~ [1, 'x'] ~ undefd
1 ~ 2 + 3
[1] + [2, 3], (1,) + (2,)
-f, +f, -n, +True, -(2), - 2
1 < 2 < 3, 1 < 3 < 2, 1 == 1.0, 1 == True, '1' == 1, 1 != 2, 3 >= 3, 2 <= 1
'a' < 'b', 'Z' < 'a', 'ab' < 'abc', [1, 2] < [1, 3], (1, 'a') < (1, 'b')
none == None, none is none, undefd == undefd2, undefd == none
[1, 2] == [1, 2], [1, 2] == (1, 2), {'a': 1, 'b': 2} == {'b': 2, 'a': 1}
1 in l, 9 in l, 'b' in d, 'z' not in d, 'da' in name, '' in '', 2 not in [1, 2.0], 'x' in undefd
not true, not '', not [], not 0.0, not 'x', not undefd, not none
1 and 2, 0 and 2, '' or 'x', 'y' or 'z', none or false, undefd or 'd', not 1 or 2
'yes' if n > 3 else 'no', ('a' if false), 'x' if undefd else 'y' if zero else 'z'
true, false, none, True, False, None
1_000, 0x1F, 0b101, 0o17, 00, 1.5e3, 1e-7, 1_0.5, 2.0E+2
big, huge, huge + 1, big * big, -huge
x1, x2, x3, x4, x5, x6, 1e15, 123456789012345680.0, 1.0, 100.0, 1e100, 0.0001, 0.00001
'\n\t\\\'\"', "\x41\u00e9\U0001F600\101", "\q\é"
'con' 'cat' "ed"
[1, 2.0, 'a', "it's", none, true, [], {}, (), (1,), undefd]
{'a': 1, 2: 'b', none: true, 1.5: [1], (1, 2): 'x', true: 'y', 'nested': {'k': 'v'}}
{'a': 1, 'a': 2, 'b': 3}, {1: 'a', 1.0: 'b', true: 'c'}
(1, 2, 3), (1,), (), 1, 2
uni, [uni], [control], [both], [quote], [lines]
name[0], name[-1], name[0:3], name[:-4], name[::2], name[::-1], name[5:1], name[-3:], name[1:6:2], name[6:1:-2]
uni[0], uni[-1], uni[4:8], uni[::-1], uni[::3], uni[100:], uni[-100:2]
l[0], l[-1], l[1:], l[::-1], l[:100], l[5:], l[::-2], (1, 2, 3)[1:], range(10)[2:8:3]
l[9], l['x'], name[99], d['zz'], d[1], d['1'], nested[1].k[2], nested.1.k, nested[0][1][0]
'{:.1}|{:.2}|{:.3}|{:.4}|{:#.3}|{:+09.3}'.format(123.456, 123.456, 123.456, 123.456, 123.456, 123.456)
'{:.1}|{:.2}|{:.3}|{:.4}|{:#.3}|{:+09.3}'.format(100.0, 100.0, 100.0, 100.0, 100.0, 100.0)
'{:.1}|{:.2}|{:.3}|{:.4}|{:#.3}|{:+09.3}'.format(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
'{:.1}|{:.2}|{:.3}|{:.4}|{:#.3}|{:+09.3}'.format(99.96, 99.96, 99.96, 99.96, 99.96, 99.96)
'{:.1}|{:.2}|{:.3}|{:.4}|{:#.3}|{:+09.3}'.format(12.0, 12.0, 12.0, 12.0, 12.0, 12.0)
'{:.1}|{:.2}|{:.3}|{:.4}|{:#.3}|{:+09.3}'.format(0.000012345, 0.000012345, 0.000012345, 0.000012345, 0.000012345, 0.000012345)
'{:.1}|{:.2}|{:.3}|{:.4}|{:#.3}|{:+09.3}'.format(1e300, 1e300, 1e300, 1e300, 1e300, 1e300)
d.b, d['b'], d.items is callable, d['items'], d.zz, d.A, nested.0, pairs.1.0
d.get('b'), d.get('zz'), d.get('zz', 5), d.keys(), d.values() | list, ed.items(), d.items() | list | first
d.keys() | list, d | list, d | length, d.copy() == d
name.upper(), name.lower(), name.title(), name.swapcase(), 'hello world'.capitalize(), uni.upper(), uni.lower(), uni.title(), 'ǆabc ﬁx ßa'.capitalize(), 'ΑΣ ΑΣΑ'.lower(), 'ß'.casefold(), "they're bill's".title()
blank.strip(), blank.lstrip(), blank.rstrip(), 'xxaxx'.strip('x'), 'abcba'.lstrip('ab'), 'abcba'.rstrip('ab'), 'x'.strip(''), blank.strip(none), '\u3000a\x1c'.strip()
csv.split(','), csv.split(',', 1), csv.rsplit(',', 1), blank.split(), ' a  b c '.split(none, 1), ' a  b c '.rsplit(none, 1), csv.split(',', maxsplit=2), csv.split(sep=','), ''.split(), ''.split(','), 'a--b'.split('--'), think.split('</think>')[-1].lstrip('\n')
lines.splitlines(), lines.splitlines(true), 'a\n'.splitlines(), ''.splitlines(), '\n\n'.splitlines()
name.startswith('Ada'), name.startswith(('x', 'A')), name.endswith('ce'), name.endswith(('a', 'e')), name.startswith('Lo', 4), name.endswith('a', 0, 3), name.startswith(''), name.startswith(())
name.replace('a', 'X'), name.replace('a', 'X', 1), 'abc'.replace('', '-'), 'aaa'.replace('aa', 'b'), uni.replace('é', ''), ''.replace('', 'x'), 'abc'.replace('', '-', 2)
name.find('a'), name.find('zz'), name.rfind('e'), uni.find('日'), name.index('L'), name.find('a', 3), name.find('a', -5, -1), 'abc'.find(''), 'abc'.find('', 9), uni.rfind('Σ')
name.count('a'), 'aaaa'.count('aa'), 'abc'.count(''), name.count('a', 3)
', '.join(ls), ''.join(['a']), '-'.join('abc'), '+'.join(d), ','.join([])
'x'.center(5), 'x'.center(4), 'xy'.center(5, '*'), 'x'.ljust(3, '.'), 'x'.rjust(3), '-5'.zfill(4), '5'.zfill(3), 'abc'.zfill(2)
'a=b=c'.partition('='), 'a=b=c'.rpartition('='), 'abc'.partition('x'), 'abc'.rpartition('x')
'prefix-x'.removeprefix('prefix-'), 'x.py'.removesuffix('.py'), 'abc'.removeprefix('x'), 'a\tb\tc'.expandtabs(4), 'ab\tc'.expandtabs()
'12'.isdigit(), '²'.isdigit(), '½'.isnumeric(), '½'.isdigit(), '१२'.isdecimal(), 'a1'.isalnum(), 'aé'.isalpha(), ''.isalpha(), ' \n'.isspace(), 'a b'.isidentifier(), '_a1'.isidentifier(), 'ab'.islower(), 'aB'.islower(), 'A1'.isupper(), '1'.isupper(), 'Ab Cd'.istitle(), 'abc'.isascii(), 'é'.isascii(), 'a\n'.isprintable(), ''.isprintable()
'%s and %s' % ('a', 1), '%d' % 5.9, '%5.2f|%-6s|%06d|%+d|%x|%X|%o|%e|%g|%%' % (3.14159, 'ab', 42, 5, 255, 255, 8, 12345.678, 0.0001), '%r' % 'x', '%(b)s-%(A)d' % d, '%s' % undefd, '%s' % none, '%c%c' % (65, 'z'), '%10s|%.2s|%-5d|' % ('hi', 'hello', 3), '%s' % [1], '%#x %#o' % (255, 8), '%i%%' % 50, '% d' % 5, '%a' % 'é', 'abc' % [], '%5.1f' % -2.25, '%.0f' % 2.5
'{} {}'.format(1, 'a'), '{0} {1} {0}'.format('x', 'y'), '{a} {b!r}'.format(a=1, b='q'), '{:>5}|{:<5}|{:^5}|{:*^7}'.format('a', 'b', 'c', 'd'), '{:05.1f} {:+d} {:,} {:x} {:#b} {:e} {:%} {:.3} {:10.3f}|'.format(3.14159, 5, 1234567, 255, 5, 12345.678, 0.25, 'abcdef', 2.5), '{{}}'.format(), '{0[0]} {0[2]} {1.b}'.format(l, d), '{:{w}}|'.format('x', w=4), '{:>{w}.{p}f}'.format(3.14159, w=8, p=2), '{!s:>4}'.format(true), '{:g} {:n} {:_} {:06d} {:<06d}'.format(0.5, 7, 1234567, -42, 42), '{:.2f}'.format(2), '{:c}'.format(65), '{} {:.1f} {:.3}'.format(1e20, 1e20, 123.456)
'{:08,.2f} {:=+7d} {:^+9.2e} {:-} {: }'.format(1234.5, 42, 31.4, 7, 7), '{:010,} {:,.0f} {:_x} {:#X}'.format(12345, 1234567.8, 1048576, 255), '{}'.format([1, 'a']), '{:s}'.format('x'), '{:5}|{:5}|{:<5}|'.format(1, true, 2.5)
l.index(1), l.count(3), (1, 2, 1).count(1), (5, 6).index(6), ['a', 'b'].index('b')
l | length, name | length, uni | length, d | count, range(5) | length, undefd | length, d.items() | length
ls | join, ls | join(', '), users | join(', ', attribute='name'), [1, none, 2.5] | join('-'), 'abc' | join('.'), undefd | join(','), d | join(',')
l | first, l | last, el | first, el | last, name | first, name | last, '' | last, d | first, d | last, range(3) | last, undefd | first, uni | last
l | sort, ls | sort, ls | sort(reverse=true), ls | sort(case_sensitive=true), users | sort(attribute='name') | map(attribute='name') | list, users | sort(attribute='age,name') | map(attribute='name') | list, users | sort(attribute='age', reverse=true) | map(attribute='name') | list, 'hello' | sort, d | sort
l | max, l | min, ls | max, ls | min, ls | min(case_sensitive=true), users | max(attribute='age'), el | max, [1.5, 1] | min, [2, 2.0] | max
l | sum, [0.1, 0.2] | sum, users | sum(attribute='age'), el | sum, l | sum(start=10), [[1], [2]] | sum(start=[])
l | reverse | list, name | reverse, (1, 2) | reverse | list, d | reverse | list, range(3) | reverse | list, l | select | reverse | list, uni | reverse
ls | unique | list, [1, 1.0, 2, true] | unique | list, ls | unique(case_sensitive=true) | list, users | unique(attribute='age') | map(attribute='name') | list
l | batch(2) | list, l | batch(2, 'x') | list, range(7) | slice(3) | list, range(7) | slice(3, 'x') | list, [] | batch(3) | list
d | dictsort, d | dictsort(true), {'a': 2, 'b': 1} | dictsort(by='value'), {'a': 2, 'b': 1} | dictsort(reverse=true), {'B': 1, 'a': 2} | dictsort(false, 'key', true)
d | items | list, undefd | items | list, d.items() | map('first') | list
users | map(attribute='name') | list, users | map(attribute='tags', default='none') | list, users | map(attribute='at.city') | join(','), pairs | map(attribute=0) | list, ls | map('upper') | list, l | map('string') | list, ls | map('replace', 'a', 'z') | list, undefd | map('upper') | list, [' a '] | map('trim') | list, users | map(attribute='zz') | list
l | select('odd') | list, l | reject('odd') | list, l | select('gt', 1) | list, ['', 'a', none] | select | list, ['', 'a'] | reject | list, l | select('in', [1, 2]) | list, l | select('divisibleby', 3) | list, [1, 'a', none] | select('string') | list
users | selectattr('on') | map(attribute='name') | list, users | selectattr('age', 'equalto', 30) | map(attribute='name') | list, users | rejectattr('on') | map(attribute='name') | list, users | selectattr('tags', 'defined') | list | length, users | rejectattr('age', 'lt', 30) | list | length, users | selectattr('at.city', 'eq', 'Rom') | list | length, users | selectattr('name', 'in', ['Bob']) | list | length
'yes' if users | selectattr('age', 'gt', 99) else 'no', 'yes' if [] | select else 'no', 'yes' if el | map('upper') | list else 'no'
users | groupby('age') | list | length, users | groupby('at.city') | map('first') | list, users | groupby('at.city', case_sensitive=true) | map('first') | list, (users | groupby('age'))[0].grouper, (users | groupby('age'))[0].list | map(attribute='name') | list, users | groupby('tags', default=[]) | map(attribute='grouper') | list, [{'a': 1}] | groupby('a')
undefd | default('x'), none | default('x'), '' | default('x', true), none | default('x', boolean=true), 0 | d(5), undefd | d, undefd.x | default('y') if false else 'z', d.zz | default('q'), false | default(true)
' a b ' | trim, 'xxaxx' | trim('x'), 5 | trim, undefd | trim, none | trim
name | upper, name | lower, name | title, name | capitalize, "they're bill's-x (y)" | title, uni | upper, 5 | upper, 'ǆ' | title, none | lower
'a.b.c' | replace('.', '-'), 'aaa' | replace('a', 'b', 2), 5 | replace(5, 6), 'x' | replace('x', undefd), 'x' | replace('', '.')
'42' | int, '42.9' | int, 'x' | int, 'x' | int(7), 3.9 | int, -3.9 | int, true | int, none | int, '0x1f' | int(0, 16), '101' | int(base=2), ' 12 ' | int, '1_000' | int, '' | int, [] | int(3), '-5' | int, '1e3' | int, 'inf' | int, '0b11' | int(0, 0)
'1.5' | float, 'x' | float, 'x' | float(9.5), 3 | float, true | float, none | float, '1e3' | float, 'inf' | float, '-inf' | float, 'nan' | float, '.5' | float, '5.' | float, ' 1_0.5 ' | float, '1e400' | float, '0x10' | float
2.5 | round, 3.5 | round, 2.675 | round(2), 42.55 | round(1, 'floor'), 42.51 | round(1, 'ceil'), 5 | round, 15 | round(-1), 25 | round(-1), 1234.5 | round(-2), -2.5 | round, 2.4 | round(method='ceil'), 0.5 | round | int, 1e20 | round(2)
-5 | abs, (-5) | abs, (-2.5) | abs, true | abs, neg | abs
l | list, 'abc' | list, d | list, (1, 2) | list, range(3) | list, undefd | list, 'é😀' | list
5 | string, none | string, [1] | string, 1.0 | string, name | string, true | string
'a\nb\n\nc' | indent, 'a\nb' | indent(2), 'a\nb' | indent(2, true), 'a\n\nb' | indent(2, blank=true), 'a\nb' | indent('> '), '' | indent, '\n' | indent(2, true), 'a\r\nb' | indent(width=1, first=true)
html | escape, html | e, html | safe, (html | safe) ~ '<', (html | safe) + '<', '<' + (html | safe), html | e | upper, [html | safe], html | escape | escape, html | forceescape, ('<' | safe).join(['<', '>']), ('%s' | safe) % '<', ('{}' | safe).format('<'), ('<' | safe) is string, ('a<' | safe).replace('a', '<'), 5 | e, ('<' | e) == '&lt;'
'foo bar baz' | wordcount, uni | wordcount, '' | wordcount, "a-b c_d" | wordcount, 'x' | center(5) ~ '|', '%s-%s' | format(1, 'a'), '%(a)s' | format(a=5), 'foo bar baz qux' | truncate(9), 'foo bar baz qux' | truncate(9, true), 'foo bar' | truncate(11), 'foo bar baz qux' | truncate(11, false, '...', 0), 'foobarbazqux' | truncate(6, leeway=0, end='~')
d | attr('keys') is callable, d | attr('b') is undefined, name | attr('upper') is callable, users[0] | attr('name') is defined
d | tojson, nested | tojson, uni | tojson, uni | tojson(ensure_ascii=true), control | tojson, both | tojson, [1.0, 1e20, 1e-7, 0.1] | tojson, none | tojson, true | tojson, 'a/b<>&' | tojson, huge | tojson, (1, 2) | tojson, '😀' | tojson(true)
users[0] | tojson(indent=2), [] | tojson(indent=2), {} | tojson(indent=4), [[], {}] | tojson(indent=1), d | tojson(separators=(',', ':')), d | tojson(indent=1, separators=(', ', ' = ')), {'b': 1, 'a': {'d': 1, 'c': 2}} | tojson(sort_keys=true), {1: 'a', none: 2, true: 3, 1.5: 4} | tojson, d | tojson(indent='--'), [1] | tojson(indent=0), 'x' | tojson(indent=4)
1 is odd, 2 is even, 9 is divisibleby 3, 9 is divisibleby(2), n is number, f is number, true is number, '1' is number, n is integer, true is integer, f is float, n is float, name is string, d is mapping, l is mapping
l is iterable, name is iterable, n is iterable, d is iterable, undefd is iterable, l is sequence, d is sequence, name is sequence, n is sequence, range(3) is sequence, d.keys() is sequence, (l | select) is iterable, (l | select) is sequence, undefd is sequence
undefd is defined, name is defined, undefd is undefined, d.zz is defined, d['zz'] is not defined, none is none, none is not none, nothing is none, undefd is none, false is false, 0 is false, true is true, 1 is true, yes is boolean, 1 is boolean
name is sameas name, true is sameas true, 1 is sameas true, none is sameas none, 1 is eq 1, 1 is equalto 1.0, 1 is ne 2, 3 is gt 2, 3 is greaterthan 2, 2 is lt 3, 2 is lessthan 3, 2 is ge 2, 2 is le 1, 1 is in [1], 'x' is in 'xyz', 5 is not in l
'ABC' is upper, 'abc' is lower, 'aBc' is lower, '12' is upper, 5 is lower, range is callable, name is callable, name.upper is callable, undefd is callable, 'upper' is filter, 'nope' is filter, 'odd' is test, 'nope' is test, (html | e) is escaped, html is escaped
not 1 is odd, not (1 is odd), 1 is not odd, 1 is odd and 2 is even, 'a' if 1 is odd else 'b', n is odd == true
range(5) | list, range(2, 8, 3) | list, range(5, 0, -2) | list, range(0), range(1, 5), range(0, 10, 2), range(3)[1], range(3)[-1], 2 in range(3), range(3) == range(0, 3), range(0) | list, range(5)[1:3] | list
dict(a=1, b=2), dict([('x', 1)]), dict({'q': 1}, z=2), dict(), dict(pairs), dict.fromkeys(['a', 'b']), dict.fromkeys('ab', 0)
namespace(a=1).a, namespace({'b': 2}).b, namespace(a=1, b=[2]), namespace() is mapping, namespace(a=1)['a'], namespace(x=1).y is defined, namespace(a=1) is iterable
cycler('a', 'b').next(), joiner('|')() ~ 'x', strftime_now('%Y-%m-%d'), strftime_now('%d %b %Y'), strftime_now('%A, %B %-d, %H:%M:%S %p %j'), strftime_now('%f|%z|%Z|%%'), strftime_now('')
loop, loop is defined, caller is defined, varargs is defined, self is defined if false else 1
(1, 2)[0], [1, [2, 3]][1][0], {'a': {'b': 'c'}}.a.b, 'abc'[1].upper(), ('x' ~ 'y').upper(), [1, 2, 3][1:][0], -l[0], (l | sort)[0], l | sort | first, ('a', 'b') | join
"a" if "b" in {"b": 1} and not undefd.x is defined else "c" if false else "d"
''.__class__, d.__foo__, name['__len__'] is defined, l.append is defined, d.update, d['update'], [].pop is undefined, d.pop is defined
name['upper'](), d['get']('b'), 'x'.join is callable, l.copy(), l.copy is defined, (1,).copy is defined, 5 .real is defined if false else 'skip'
name.split(' ')[1][:4].lower() ~ '-' ~ (name | length) * 2
""".strip("\n")
