import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CapturedOutput, parseOutput, readOutput } from '../../src/exec/index.ts'

const captured = (text: string): CapturedOutput => ({
  head: text,
  tail: '',
  totalBytes: text.length,
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
    ['errors that are no list', 'output:\n  status: success\n  errors: {a: 1}\n', 'errors'],
    ['metrics that are no mapping', 'output:\n  status: success\n  metrics: [1]\n', 'metrics'],
    ['an alias', 'output:\n  status: success\n  result: &a x\n  errors: [*a]\n', ''],
  ])('is a failure output-malformed for %s', (_name, stdout, reason) => {
    const output = fromStdout(stdout)
    expect(output.status).toBe('failure')
    expect(output.errors[0]?.code).toBe('output-malformed')
    expect(output.errors[0]?.message).toMatch(new RegExp(reason))
  })

  it('is a failure when the exit code contradicts a success', () => {
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

  it('without a block is judged by the exit code, with the last complaint', () => {
    expect(fromStdout('working\n', 2, 'first\nno such file\n')).toMatchObject({
      status: 'failure',
      result: 'no such file',
      errors: [{ code: 'exit-code', message: 'exit code 2: no such file' }],
    })
  })

  it('comes from the file it wrote before anything it printed', () => {
    const printed = captured('{"status":"success"}')
    const file = 'status: failure\nresult: from the file\n'
    const end = { kind: 'exit', code: 0 } as const
    expect(readOutput({ end, stdout: printed, stderr: printed, file })).toMatchObject({
      status: 'failure',
      result: 'from the file',
    })
  })

  it('is looked for at the end when the middle is missing', () => {
    const stdout = {
      head: '{"status":"failure"}\n',
      tail: 'plain end\n',
      totalBytes: 9e6,
      droppedBytes: 8e6,
    }
    const end = { kind: 'exit', code: 0 } as const
    expect(readOutput({ end, stdout, stderr: stdout })).toMatchObject({
      status: 'success',
      result: 'plain end',
    })
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
  })
})
