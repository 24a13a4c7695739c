/** What fuzzing found, as small as it goes. Each failed once and is executed by every test run. */
export const finds: readonly { target: string; input: string; was: string }[] = [
  {
    target: 'arguments',
    input: `$a\n%%\n${'e'.repeat(60_000)}\n%%\nb`,
    was: 'a long declared name made an expression that the engine refuses',
  },
  {
    target: 'directive',
    input: `use a${'_'.repeat(60_000)}b now`,
    was: 'a run of underscores in a request took seconds, growing with its square',
  },
  {
    target: 'directive',
    input: `BATCH: [{"tool":"a","params":{"b":${nested(5000)}}}]`,
    was: 'parameters too deep to be written again were accepted',
  },
  {
    target: 'directive',
    input: `ab${' '.repeat(115)}#{`.repeat(540),
    was: 'each word before many blanks and a brace was tried with every division of the blanks',
  },
  {
    target: 'directive',
    input: `${'{'.repeat(21)}{"note":"call demo__list"}`,
    was: 'behind as many braces as are tried, a name was taken out of JSON',
  },
  {
    target: 'output-protocol',
    input: `1{"status":"failure",${'"'.repeat(65_000)}`,
    was: 'thousands of errors of the YAML library took seconds, each with a stack of its own',
  },
  {
    target: 'output-protocol',
    input: `0output:\n  metrics:\n z:\n  metrics:\n    a: | a: "}  | ${'$resu'.repeat(13_000)}`,
    was: 'an error that quotes the whole output was longer than a result may be',
  },
  {
    target: 'output-protocol',
    input: `0output:\n  status: ${'${a'.repeat(21_830)}\n`,
    was: 'a wrong status was quoted whole, and longer than a result may be',
  },
  {
    target: 'output-protocol',
    input: `0{"status":"success","result":${nested(5000)}}`,
    was: 'a deep result exhausted the stack of what never throws',
  },
  {
    target: 'pattern',
    input: `${'{'.repeat(400)}\n%%\na`,
    was: 'a portable spelling was offered that is too long to be accepted',
  },
  {
    target: 'pattern',
    input: `a{${'9'.repeat(21)},5}\n%%\na`,
    was: 'an interval of more than 23 characters was taken for text',
  },
  {
    target: 'pattern',
    input: '[[:alpha:_-]{x:]\n%%\na',
    was: 'accepted: a class whose name RE2 reads up to a later `:]`',
  },
  {
    target: 'pattern',
    input: '[:a[:]9]\n%%\na',
    was: 'accepted: a class without a name, which the RE2 library refuses',
  },
  {
    target: 'pattern',
    input: `${'('.repeat(60_000)}\n%%\na`,
    was: 'a portable spelling was looked for in a pattern that is too long to be read',
  },
  {
    target: 'pattern',
    input: `${'{'.repeat(60_000)}\n%%\na`,
    was: 'each note of a pattern that is too long copied the whole pattern',
  },
  {
    target: 'servers',
    input: '0{"mcpServers":{"a":{"type":"constructor","url":"http://x"}}}',
    was: 'a type named like a member of every object was taken for a transport',
  },
  {
    target: 'servers',
    input: '0{"mcpServers":{"a":{"command":"${toString}"}}}',
    was: 'a variable named like a member of every object counted as set',
  },
  {
    target: 'servers',
    input: `0{"mcpServers":{"a":${nested(5000)}}}`,
    was: 'a deep value in the file of a project ended the program',
  },
  {
    target: 'servers',
    input: `0{"mcpServers":{${listed(2000, (at) => `"s${at}":{"command":"x","args":1}`)}}}`,
    was: 'every finding read the whole file again',
  },
  {
    target: 'servers',
    input: `4${Array.from({ length: 2400 }, (_, at) => `[mcp_servers.a${at}]\ncommand = 1`).join('\n')}`,
    was: 'every finding in TOML read the whole file again',
  },
  {
    target: 'servers',
    input: `0{"mcpServers":{${listed(9000, (at) => `"s${at}":{"command":"x"}`)}}}`,
    was: 'every server was looked for among all of them',
  },
  {
    target: 'settings',
    input: `{"a":1${','.repeat(200_000)}}`,
    was: 'more errors than a call has room for ended the program',
  },
  {
    target: 'settings',
    input: `{"a":${nested(5000)}}`,
    was: 'a deep value in the file of a project ended the program',
  },
  {
    target: 'settings',
    input: `{${listed(3000, (at) => `"unknown-setting-${at}":1`)}}`,
    was: 'every unknown setting counted the lines from the beginning and was compared with all',
  },
  {
    target: 'skill',
    input: '---\nn: : \r \n---',
    was: 'blanks that were removed let a value be quoted the second time',
  },
  {
    target: 'skill',
    input: '---\ndescription: a\nallowed-tools:\n- a()"\n---',
    was: 'a permission was written in a form that is none',
  },
  {
    target: 'skill',
    input: `---\n    inject: ${'maxDe: '.repeat(4600)}\n---\n`,
    was: 'mappings in mappings on one line exhausted the stack of the YAML library',
  },
  {
    target: 'skill',
    input: '---\ndescription:\rb\n---',
    was: 'an edit took away the only blank behind a colon',
  },
  {
    target: 'skill',
    input: '\ufeff\ufeff',
    was: 'of two byte order marks one was left',
  },
  {
    target: 'skill',
    input: '---\ndescription: b\nallowed-tools:\n- h(\n---',
    was: 'a pattern without its end became a permission when it was mended',
  },
  {
    target: 'skill',
    input: '---\nname: a\r\r\n---\nbody\n',
    was: 'a fix that another fix changed again',
  },
  {
    target: 'skill',
    input: '---\nname: A_\r \t\ndescr\n---\n',
    was: 'a carriage return before blanks that were removed needed a second fix',
  },
  {
    target: 'skill',
    input: `---\nname: a\nallowed-tools:${' '.repeat(60_000)}x\n---\n`,
    was: 'blanks in the middle of a line took seconds, growing with their square',
  },
  {
    target: 'skill',
    input: `---\nname: a\ndescription: use ${'this skill '.repeat(60)}!\n---\n`,
    was: 'the same two words again and again took twice as long with each time',
  },
  {
    target: 'skill',
    input: `---\nname: a\ndescription: b\n${Array.from({ length: 8000 }, (_, at) => `k${at}: v`).join('\n')}\n---\n`,
    was: 'an edit compared every key with every other',
  },
  {
    target: 'references',
    input: '`'.repeat(60_000),
    was: 'a run of backticks was read again from each of them',
  },
  {
    target: 'references',
    input: `{"a":"${'$x '.repeat(20_000)}"}\n%%\n{"x":"${'y'.repeat(60_000)}"}`,
    was: 'references to a long answer came to more than a text can have',
  },
  {
    target: 'state',
    input: `{"version":1,"workspaces":${nested(5000)}}`,
    was: 'a deep record of trust ended the program instead of being refused',
  },
  {
    target: 'state',
    input: `{"session_id":"s","started_at":"2026-01-01","completed":{"w":{"t":{"at":"x","result":"y","value":${nested(5000)}}}}}`,
    was: 'a session that was read could not be written again',
  },
  {
    target: 'tool-cache',
    input: `{"version":"4","tool_count":0,"categories":{},"workflows":${nested(5000)}}`,
    was: 'a cache that was read could not be written again',
  },
  {
    target: 'workflows',
    input: `{${Array.from({ length: 4000 }, (_, index) => `"${index}":{}`).join(',')}}`,
    was: 'the time of reading grew with the square of the definitions that are wrong',
  },
  {
    target: 'workflows',
    input: `{${listed(400, (at) => definition(at, `t__${at % 2}`, `t__${(at + 1) % 2}`))}}`,
    was: 'tens of thousands of cycles were told, each with hundreds of names',
  },
  {
    target: 'workflows',
    input: `{${listed(10_000, (at) => definition(at, `t__${at}`, `t__${at + 1}`))}}`,
    was: 'workflows that trigger one another in a long row exhausted the stack',
  },
]

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

function listed(count: number, item: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => item(at)).join(',')
}

function definition(at: number, trigger: string, step: string): string {
  const prerequisites = `[{"step":1,"tool":"${step}","description":"d"}]`
  return `"w${at}":{"description":"d","triggers":{"tools":["${trigger}"]},"prerequisites":${prerequisites}}`
}
