import { defineCommand, option, type Screen } from '#core/command'
import { exitCode } from '#core/errors'
import { cell, linesText, safeLine } from '#core/text'
import { duration } from '#chain/timeline'
import { type CheckedProof, checkProof, type ProofLine } from '#project/check-proof'
import { type WrittenProof, writeProof } from '#project/proof'
import type { ProvenStep } from '#project/proof-format'

export const proof = defineCommand<WrittenProof>()({
  arguments: { '[run]': 'the run ID, the beginning of one, or latest (default)' },
  options: {
    out: option.text('--out <file>', 'where it is written (default: .skillrail/proofs/RUN.json)'),
    sign: option.switch('--sign', 'sign it (default, if Git signs with an SSH key)', {
      negated: 'do not sign it',
    }),
  },
  details: `The run must have ended in a Git repository. Commit the proof last: the files in .skillrail/proofs do not count as a part of the tree. If Git is configured to sign with an SSH key, the key signs the proof into FILE.sig. The signature shows the account; an agent with the account's rights can sign too.`,
  examples: ['runs proof latest', 'runs proof 0mh2k9x0ab12cd --out proof.json'],
  run: async (context, { arguments: [name = 'latest'], out, sign }) =>
    writeProof(context, { name, out, sign }),
  render: ({ file }) => `${safeLine(file)}\n`,
  notes: ({ signature, hasOtherKey, proof: { predicate }, isIgnored }) => [
    predicate.run.status !== 'success' &&
      `The run ended as ${predicate.run.status}: no check passes.`,
    signature === undefined
      ? `It is not signed: ${hasOtherKey ? 'user.signingKey is set, but gpg.format is not ssh. If that is an SSH key: git config --global gpg.format ssh' : 'Git has no SSH key to sign with.'}`
      : `Signed in ${safeLine(signature)}. That shows the account; its agent can sign too.`,
    isIgnored && 'Git ignores this file: remove the rule, or commit it with git add --force.',
  ],
})

export const check = defineCommand<CheckedProof>()({
  arguments: { '[file]': 'the proof (default: the newest one in .skillrail/proofs)' },
  options: {
    commit: option.text('--commit <sha>', 'the commit that it has to be about', { required: true }),
    base: option.text('--base <ref>', 'the branch whose chain counts'),
    chain: option.text('--chain <name>', 'the chain that has to be executed, or its directory'),
    require: option.choice(
      '--require <evidence>',
      'verified: an exit code or a check for each step',
      {
        choices: ['verified'],
      },
    ),
    approval: option.choice('--approval <strength>', 'what each gate needs at least', {
      choices: ['unknown', 'prompted', 'attended', 'signed'],
    }),
    allowedSigners: option.text(
      '--allowed-signers <file>',
      'the keys that may sign; of a file in the project, the version of --base counts',
    ),
    sameFiles: option.flag(
      '--same-files',
      'each step must have succeeded on the files of the end of the run; a check that --rerun repeats need not',
    ),
    rerun: option.flag(
      '--rerun',
      'run the checks of the chain of --base again, in this working tree',
    ),
    report: option.list('--report <format[=file]>', 'json or github (repeatable)'),
  },
  details: `Ends with 0 or 1 and names every line that fails. Use --chain: without it, the proof of any chain counts. --rerun is the recommended form in CI: it needs no trust in the computer that wrote the proof.`,
  examples: [
    'runs check-proof --commit HEAD',
    'runs check-proof --commit HEAD --base origin/main --chain release --require verified --rerun',
  ],
  run: async (context, { arguments: [file], report: _report, ...question }) =>
    checkProof(context, { file, ...question }),
  render: (checked, screen) => {
    const { lines, hasPassed, file } = checked
    const shown = lines.map((line) => `${markOf(line, screen)} ${line.text}`)
    return linesText([
      `${safeLine(file)}: ${hasPassed ? 'passed' : screen.style('red', 'failed')}`,
      ...shown.map((line) => `  ${line}`),
    ])
  },
  exitCode: ({ hasPassed }) => (hasPassed ? exitCode.done : exitCode.failed),
  formats: {
    json: (checked: CheckedProof) => `${JSON.stringify(checked, undefined, 2)}\n`,
    github: githubSummary,
  },
  jobSummary: true,
})

function markOf({ status }: ProofLine, { style }: Screen): string {
  if (status === 'passed') return style('green', '✓')
  return status === 'failed' ? style('red', '✗') : style('dim', '·')
}

/** The summary of a job: the verdict, then what failed, then the steps. */
function githubSummary({ hasPassed, lines, proof: document, commit, file }: CheckedProof): string {
  const chain = document?.predicate.chain.name ?? file
  const verdict = hasPassed ? '✅ passed' : '❌ failed'
  const marks = { passed: '✅', failed: '❌', unchecked: '➖' } as const
  const order = ['failed', 'passed', 'unchecked'] as const
  const sorted = order.flatMap((status) => lines.filter((line) => line.status === status))
  return linesText([
    `## ${markdown(chain)}: proof ${verdict} for ${markdown(commit.slice(0, 10))}`,
    '',
    ...sorted.map(({ status, text }) => `- ${marks[status]} ${markdown(text)}`),
    '',
    ...(document ? stepTable(document.predicate.steps) : []),
  ])
}

function stepTable(steps: readonly ProvenStep[]): string[] {
  const rows = steps.map(({ step, status, evidence, check: command, verify, durationMs }) => [
    step,
    status,
    evidence ?? '',
    cell(command ?? verify ?? '', 60),
    durationMs === null ? '' : duration(durationMs),
  ])
  const table = [
    ['step', 'status', 'evidence', 'check', 'time'],
    ['-', '-', '-', '-', '-'],
    ...rows,
  ]
  return table.map((row) => `| ${row.map((text) => markdown(text)).join(' | ')} |`)
}

/** Anybody can write a proof: its texts must be no Markdown, HTML, link or mention. */
function markdown(text: string): string {
  return safeLine(text).replaceAll(
    /[^\p{L}\p{N}\p{M} ,;()/=-]/gu,
    (character) => `&#${character.codePointAt(0)};`,
  )
}
