import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CapturedOutput } from '../../src/exec/process.ts'
import { parseOutput, readOutput } from '../../src/exec/output-protocol.ts'

const captured = (text: string): CapturedOutput => ({
  head: text,
  tail: '',
  droppedBytes: 0,
})

function fromStdout(stdout: string, code = 0, stderr = ''): ReturnType<typeof readOutput> {
  return readOutput({
    end: { kind: 'exit', code },
    stdout: captured(stdout),
    stderr: captured(stderr),
  })
}

describe('the output of a script', () => {
  it.each([
    ['nothing', '', 'success', ''],
    ['plain lines', 'one\ntwo\n\n', 'success', 'two'],
    ['a bare YAML block', 'log\noutput:\n  status: failure\n  result: bad\n', 'failure', 'bad'],
    [
      'a fenced YAML block',
      'x\n```yaml\noutput:\n  status: critical\n  result: r\n```\nbye\n',
      'critical',
      'r',
    ],
    ['an indented fence', '- a\n  ```\n  output:\n    status: critical\n  ```\n', 'critical', ''],
    ['a flow mapping', 'output: {status: failure, result: x}\n', 'failure', 'x'],
    [
      'the last of two blocks',
      'output:\n  status: failure\noutput:\n  status: success\n  result: 2\n',
      'success',
      '2',
    ],
    ['a JSON object on a line', 'x\n{"status":"failure","result":"j"}\n', 'failure', 'j'],
    [
      'JSON over lines, then a log',
      '{\n "status": "critical",\n "result": "j"\n}\ndone\n',
      'critical',
      'j',
    ],
    ['JSON below output', '{"output":{"status":"failure"}}', 'failure', ''],
    ['a fenced JSON object', '```json\n{"status": "failure"}\n```', 'failure', ''],
    [
      'a later JSON object over a block',
      'output:\n  status: failure\n{"status":"success"}',
      'success',
      '',
    ],
    [
      'structured logs with a numeric status',
      '{"level":"info","status":200}\n',
      'success',
      '{"level":"info","status":200}',
    ],
    ['a log line that begins with output:', 'output: dist/x.js\n', 'success', 'output: dist/x.js'],
    ['output: as a heading of nothing', 'output:\nfiles written\n', 'success', 'files written'],
    [
      'an indented block',
      'log\n\n    output:\n      status: failure\n      result: r\n',
      'failure',
      'r',
    ],
    ['a block behind a byte order mark', '\uFEFFoutput:\n  status: failure\n', 'failure', ''],
    ['JSON behind a byte order mark', 'x\r\n\uFEFF{"status":"failure"}', 'failure', ''],
    ['a block behind a progress bar', '50 %\r99 %\routput:\n  status: failure\n', 'failure', ''],
    ['a block without indentation', 'output:\nstatus: failure\nresult: r\n\nx', 'failure', 'r'],
    ['a space before the colon', 'output :\n  status: failure\n', 'failure', ''],
    ['a mapping as Python prints it', "{'result': 'r', 'status': 'failure'}", 'failure', 'r'],
    ['an object as Node prints it', "{ status: 'failure', result: 'r' }", 'failure', 'r'],
    ['CRLF', 'output:\r\n  status: failure\r\n  result: r\r\n', 'failure', 'r'],
  ])('is read from %s', (_name, stdout, status, result) => {
    expect(fromStdout(stdout)).toMatchObject({ status, result })
  })

  it.each([
    ['a wrong status', 'output:\n  status: passed\n', 'passed'],
    ['no status', 'output:\n  result: x\n', 'no status'],
    ['text instead of a mapping', 'output:\n  just words here\n', 'no status|mapping'],
    ['broken YAML', 'output:\n  status: success\n  result: "unclosed\n', ''],
    ['JSON that was cut off', '{"status": "success", "result": "', ''],
    ['a wrong status in JSON', '{"status":"ok"}', 'ok'],
    [
      'JSON cut off behind its status',
      '{"result":"r","status":"failure"\nlog {}',
      'JSON cannot be',
    ],
    ['JSON cut off in its status', 'x\n{"result":"r","status":"fail', 'JSON cannot be read'],
    ['JSON that says the status first, cut off', '{"status":"failure","result":1', 'JSON cannot'],
    ['JSON with a comma too few', '{"result":"r" ,"status":"success" "errors":[]}', 'JSON cannot'],
    ['a status of null', '{"status":null}', 'is empty'],
    ['a status that is a number', '{"status":1,"result":"r"}', 'is 1'],
    ['a status that is true', '{"status":true}', 'is true'],
    ['words behind output:', 'output: it is\n  status: failure\n', ''],
    ['errors that are not a list', 'output:\n  status: success\n  errors: {a: 1}\n', 'errors'],
    ['metrics that are not a mapping', 'output:\n  status: success\n  metrics: [1]\n', 'metrics'],
    ['an alias', 'output:\n  status: success\n  result: &a x\n  errors: [*a]\n', ''],
  ])('is a failure with the code output-malformed for %s', (_name, stdout, reason) => {
    const output = fromStdout(stdout)
    expect(output.status).toBe('failure')
    expect(output.errors[0]?.code).toBe('output-malformed')
    expect(output.errors[0]?.message).toMatch(new RegExp(reason))
  })

  it.each([
    ['a part of another YAML text', 'jobs:\n  output:\n    status: failure\n'],
    ['an item of a YAML list', '- name: x\n  output:\n    status: failure\n'],
    ['an indented heading', 'done\n  output:\n    status: 3 files\n'],
    ['a type in code', 'interface X {\n  output: {\n    status: "failure"\n  }\n}\n'],
    ['a value in code', 'return f({\n  output: { status: "failure" },\n})\n'],
    ['a list in code', 'const list = [\n  { status: "failure" },\n]\n'],
    ['a line of code', '  { status: "failure" },\n'],
    ['a list of JSON objects', '[\n{"status":"passed"},\n{"status":"failure"}\n]\n'],
    ['JSON with such a list', '{\n  "a": [\n    {\n      "status": "failure"\n    }\n  ]\n}\n'],
    ['an answer of HTTP', '{"status":404,"result":"none"}\n'],
    ['an object as status', '{"status":{"phase":"Running"}}\n'],
    ['numbers of others', '{"status":1,"pid":7}\n{"status":null,"name":"x"}\n'],
    ['the configuration of a bundler', '{"input":"a.js","output":{"dir":"dist"}}\n'],
    ['a body that is never closed', 'int main()\n{\n  status = failure;\n'],
    ['prose with a brace', '{ of the request\nsaid "status":"failure" to us\n'],
    ['a log line with JSON in it', 'INFO got {"result":"r","status":"failure"\n'],
    ['a summary', 'output: dist/x.js\nstatus: success\nerrors: 0\n'],
    ['a heading', 'output:\nstatus of 3 files\n'],
  ])('is not taken from %s', (_name, stdout) => {
    const last = stdout.trimEnd().split('\n').at(-1)?.trim()
    expect(fromStdout(stdout)).toMatchObject({ status: 'success', result: last, errors: [] })
  })

  const noise = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '',
          'output',
          'output: x',
          '  output:',
          'status: failure',
          '  }',
          '}',
          '{',
          ']',
        ),
        fc.constantFrom('x {', '{"level":1}', '{"status":200}', 'function f() {', '```', '"'),
        fc.string({ maxLength: 20 }).map((text) => text.replaceAll(/[\r\n]/g, ' ')),
      ),
      { maxLength: 8 },
    )
    .filter(
      (lines) =>
        !/status|[[,]\s*$/.test(
          lines.join('\n').replaceAll(/^status: failure$|^{"status":200}$/gm, ''),
        ),
    )
  const word = fc.string({ maxLength: 12 })

  it('is never a success by an incomplete block', () => {
    const object = fc
      .tuple(word, word, fc.constantFrom('failure', 'critical'), fc.boolean(), fc.boolean())
      .map(([result, message, status, first, wide]) => {
        const rest = { result, errors: [{ code: 'c', message }] }
        const value = first ? { status, ...rest } : { ...rest, status }
        return JSON.stringify(value, null, wide ? 2 : 0)
      })
    fc.assert(
      fc.property(noise, object, fc.nat(), (lines, json, at) => {
        const first = json.search(/"status":\s*"(?:failure|critical)"/) + 22
        const cut = Math.max(first, json.length - 1 - (at % json.length))
        const output = fromStdout([...lines, '', json.slice(0, cut)].join('\n'))
        expect(output.status).not.toBe('success')
      }),
      { numRuns: 300 },
    )
  })

  it('follows the exit code for output of other programs', () => {
    const key = fc.constantFrom('name', 'state', 'output', 'level', 'message', 'result', 'errors')
    const value = fc.letrec((tie) => ({
      leaf: fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null), fc.constant('failure')),
      list: fc.array(tie('any'), { maxLength: 3 }),
      map: fc.dictionary(fc.constantFrom('status', 'name', 'a'), tie('any'), { maxKeys: 3 }),
      any: fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('list'), tie('map')),
    })).any
    const foreign = fc
      .tuple(fc.dictionary(key, value, { maxKeys: 5 }), fc.constantFrom(0, 2, '\t'))
      .filter(([map]) => typeof map['output'] !== 'object' || map['output'] === null)
      .map(([map, indent]) => JSON.stringify({ name: 'x', ...map }, null, indent))
    fc.assert(
      fc.property(fc.array(foreign, { maxLength: 4 }), (objects) => {
        expect(fromStdout(objects.join('\n'))).toMatchObject({ status: 'success', errors: [] })
      }),
      { numRuns: 300 },
    )
  })

  it('is a failure if the exit code contradicts a success', () => {
    const output = fromStdout('output:\n  status: success\n  result: fine\n', 3)
    expect(output).toMatchObject({ status: 'failure', result: 'fine' })
    expect(output.errors).toEqual([
      { code: 'exit-code', message: 'the script reported success but ended with exit code 3' },
    ])
  })

  it('keeps a critical whatever the exit code says', () => {
    expect(fromStdout('{"status":"critical"}', 1).status).toBe('critical')
    expect(fromStdout('{"status":"critical"}', 0).status).toBe('critical')
  })

  it('follows the exit code without a block, with the last error line', () => {
    expect(fromStdout('working\n', 2, 'first\nno such file\n')).toMatchObject({
      status: 'failure',
      result: 'no such file',
      errors: [{ code: 'exit-code', message: 'exit code 2: no such file' }],
    })
  })

  it('comes from the output file, before any printed block', () => {
    const printed = captured('{"status":"success"}')
    const file = 'status: failure\nresult: from the file\n'
    const end = { kind: 'exit', code: 0 } as const
    expect(readOutput({ end, stdout: printed, stderr: printed, file })).toMatchObject({
      status: 'failure',
      result: 'from the file',
    })
  })

  it.each([
    ['{"status":"critical"}\nx', '{"status":"failure"}\nplain end\n', 'failure'],
    ['{"status":"failure"}\nx', 'plain end\n', 'failure'],
    ['output:\n  status: failure\nx', 'plain end\n', 'failure'],
    ['log\n{"status":"fail', 'plain end\n', 'success'],
  ])('is the last remaining block of %j and %j if the middle is missing', (head, tail, status) => {
    const stdout = { head, tail, droppedBytes: 8e6 }
    const end = { kind: 'exit', code: 0 } as const
    expect(readOutput({ end, stdout, stderr: stdout }).status).toBe(status)
  })

  it('normalises errors and metrics', () => {
    expect(
      parseOutput(
        'status: failure\nerrors:\n  - plain words\n  - {code: e1, message: coded}\n  - {message: no code}\n  - {path: x}\nmetrics: {n: 3, s: word, big: .inf}\n',
      ),
    ).toEqual({
      status: 'failure',
      result: '',
      errors: [
        { code: 'reported', message: 'plain words' },
        { code: 'e1', message: 'coded' },
        { code: 'reported', message: 'no code' },
        { code: 'reported', message: '{"path":"x"}' },
      ],
      metrics: { n: 3, s: 'word', big: null },
      evidence: 'exit-code',
    })
  })

  it('never throws and stays linear, whatever is printed', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '{',
        '}',
        '"',
        '\\',
        '\n',
        'output:',
        '  ',
        'status',
        ': ',
        'success',
        '```',
        '{"status":"',
        '\0',
        '\ufffd',
      ),
      fc.string(),
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }),
        fc.integer({ min: 0, max: 2 }),
        (parts, code) => {
          const output = fromStdout(parts.join(''), code)
          expect(['success', 'failure', 'critical']).toContain(output.status)
          expect(code !== 0 && output.status === 'success').toBe(false)
        },
      ),
      { numRuns: 500 },
    )
    // Quadratic work on this would take hours, not milliseconds.
    expect(fromStdout('{\n'.repeat(300_000)).status).toBe('success')
    expect(fromStdout('output:\n '.repeat(100_000)).status).toBeDefined()
    expect(fromStdout('{"a":\n'.repeat(100_000) + '}'.repeat(100_000)).status).toBe('success')
    expect(fromStdout('{"\\"\n'.repeat(100_000)).status).toBe('success')
    expect(fromStdout('  output:\n    a: 1\n'.repeat(100_000)).status).toBe('success')
  })
})
