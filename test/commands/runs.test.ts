import { it } from 'vitest'
import { expectOutcomes } from './_outcomes.ts'
import type { Scenario } from './_scenario.ts'

function chains({ skill }: Scenario): void {
  const output = (lines: string): string => `printf 'output:\\n${lines}'`
  skill('build', { run: 'echo built "$@"' })
  skill('measure', {
    run: output('  status: success\\n  result: 42 tests passed\\n  metrics: { tests: 42 }\\n'),
  })
  skill('fail', { run: 'echo no disk >&2\nexit 3' })
  skill('grave', { run: output('  status: critical\\n  result: it burns\\n  errors: [fire]\\n') })
  skill('malformed', { run: output('  status: perhaps\\n') })
  skill('once', { run: 'if [ -e went ]; then echo second; else touch went; exit 1; fi' })
  skill('slow', { run: 'sleep 20' })
  skill('verified', { run: 'echo done', verify: 'exit 0' })
  skill('refuted', { run: 'echo done', verify: 'echo is not there >&2\nexit 1' })
  skill('prompted', { body: 'Think about $ARGUMENTS.' })
  const chain = (name: string, ...metadata: string[]): void => skill(name, { metadata })
  chain('simple', 'chain: build measure')
  chain('gated', 'chain: build measure', 'gates: measure')
  chain('stopping', 'chain: build fail measure', 'continue_on_error: "false"')
  chain('lenient', 'chain: build fail measure')
  chain('critical', 'chain: grave build', 'early_exit_on: critical')
  chain('resumable', 'chain: build once measure', 'continue_on_error: "false"')
  chain('parallel', 'chain: build measure verified', 'async: "true"', 'parallel_limit: "1"')
  chain('outer', 'chain: build gated simple')
  chain('retrying', 'chain: fail', 'retry_count: "2"', 'retry_until: success')
  chain('limited', 'chain: slow build', 'timeout: "1"', 'continue_on_error: "false"')
  chain('long', 'chain: build slow measure')
  chain('checked', 'chain: verified refuted')
  chain('absent', 'chain: build nothing')
  chain('circle', 'chain: circle build')
  chain('wrong', 'chain: build', 'retry_count: "x"', 'timeuot: "3"')
  chain('thinking', 'chain: build prompted')
}

const trusted = '--trust-workspace'

it('starts, resumes, approves, forks and prunes runs', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, skill } = scenario
      chains(scenario)
      await json(`runs list`)
      await json(`run build ${trusted} one`)
      await json('runs list')
      await json('runs show RUN')
      await json('runs logs RUN')
      await json('runs resume RUN')
      await json('runs approve RUN')
      await json('runs reject RUN')
      await json('runs cancel RUN')
      for (const name of ['simple', 'stopping', 'lenient', 'critical', 'malformed', 'parallel']) {
        await json(`run ${name} ${trusted}`)
        await json('runs show RUN')
      }
      for (const name of [
        'retrying',
        'limited',
        'checked',
        'absent',
        'circle',
        'wrong',
        'thinking',
      ]) {
        await json(`run ${name} ${trusted}`)
      }
      await json(`run resumable ${trusted}`)
      await json(`runs resume RUN ${trusted}`)
      await json(`runs retry RUN ${trusted}`)
      await json('runs show RUN')
      await json(`runs fork RUN --from measure ${trusted}`)
      await json(`runs fork RUN --from nothing ${trusted}`)
      await json(`runs fork RUN ${trusted}`)
      await json(`run gated ${trusted}`)
      await json('runs show RUN')
      await json('runs list')
      await json('runs approve RUN')
      await json('runs approve RUN --step nothing')
      await json(`runs resume RUN ${trusted}`)
      await json(`runs resume RUN --yes-gates ${trusted}`)
      await json(`run gated ${trusted}`)
      await json('runs reject RUN')
      await json('runs cancel RUN')
      await json('runs cancel RUN')
      await json(`runs resume RUN ${trusted}`)
      await json(`run gated --yes-gates ${trusted}`)
      await json(`run outer --yes-gates ${trusted}`)
      await json('runs show RUN')
      await json(`run simple --set timeout=5 --set continue_on_error=false ${trusted}`)
      await json(`run gated ${trusted}`)
      skill('measure', { run: 'echo changed' })
      await json(`runs resume RUN ${trusted}`)
      await json(`runs resume RUN --force ${trusted}`)
      await json('runs import .skillrail/runs/0none.jsonl')
      await json('runs prune --older-than 30')
      await json('runs prune --dry-run')
      await json('runs prune')
      await json('runs prune --keep 2 --dry-run')
      await json('runs prune --keep 2')
      await json('runs list')
      await json('runs prune --keep 0 --unfinished')
      await json('runs list')
    },
    [
      '0 runs list',
      '0 run build --trust-workspace one → evidence=exit-code status=success',
      '0 runs list → status=success',
      '0 runs show RUN → evidence=exit-code status=success',
      '0 runs logs RUN',
      '0 runs resume RUN → evidence=exit-code status=success',
      '1 runs approve RUN → no-gate-waits',
      '1 runs reject RUN → no-gate-waits',
      '1 runs cancel RUN → run-ended',
      '0 run simple --trust-workspace → evidence=exit-code status=success',
      '0 runs show RUN → evidence=exit-code status=success',
      '1 run stopping --trust-workspace → evidence=exit-code exit-code status=failure status=not_run status=success',
      '0 runs show RUN → evidence=exit-code exit-code status=failure status=not_run status=success',
      '1 run lenient --trust-workspace → evidence=exit-code exit-code status=failure status=success',
      '0 runs show RUN → evidence=exit-code exit-code status=failure status=success',
      '1 run critical --trust-workspace → evidence=exit-code reported status=critical status=not_run',
      '0 runs show RUN → evidence=exit-code reported status=critical status=not_run',
      '1 run malformed --trust-workspace → evidence=exit-code output-malformed status=failure',
      '0 runs show RUN → evidence=exit-code output-malformed status=failure',
      '0 run parallel --trust-workspace → evidence=exit-code evidence=verified status=success',
      '0 runs show RUN → evidence=exit-code evidence=verified status=success',
      '1 run retrying --trust-workspace → evidence=exit-code exit-code status=failure',
      '1 run limited --trust-workspace → evidence=exit-code status=failure status=not_run timeout',
      '1 run checked --trust-workspace → evidence=exit-code evidence=verified status=failure status=success verification-failed',
      '3 run absent --trust-workspace → step-missing',
      '3 run circle --trust-workspace → chain-cycle',
      '3 run wrong --trust-workspace → chain-unknown-key field-type',
      '3 run thinking --trust-workspace → no-executor',
      '1 run resumable --trust-workspace → evidence=exit-code exit-code status=failure status=not_run status=success',
      '1 runs resume RUN --trust-workspace → run-ended',
      '0 runs retry RUN --trust-workspace → evidence=exit-code status=success',
      '0 runs show RUN → evidence=exit-code status=success',
      '0 runs fork RUN --from measure --trust-workspace → evidence=exit-code status=success',
      '3 runs fork RUN --from nothing --trust-workspace → step-unknown',
      '2 runs fork RUN --trust-workspace → wrong-use',
      '6 run gated --trust-workspace → evidence=exit-code status=success status=waiting',
      '0 runs show RUN → evidence=exit-code status=success status=waiting',
      '0 runs list → status=critical status=failure status=success status=waiting',
      '4 runs approve RUN → run-trust-changed',
      '1 runs approve RUN --step nothing → no-gate-waits',
      '6 runs resume RUN --trust-workspace → evidence=exit-code status=success status=waiting',
      '2 runs resume RUN --yes-gates --trust-workspace → wrong-use',
      '6 run gated --trust-workspace → evidence=exit-code status=success status=waiting',
      '4 runs reject RUN → approval-needs-terminal',
      '0 runs cancel RUN → status=cancelled',
      '0 runs cancel RUN → status=cancelled',
      '6 runs resume RUN --trust-workspace → evidence=exit-code status=success status=waiting',
      '0 run gated --yes-gates --trust-workspace → evidence=exit-code status=success',
      '0 run outer --yes-gates --trust-workspace → evidence=exit-code status=success',
      '0 runs show RUN → evidence=exit-code status=success',
      '0 run simple --set timeout=5 --set continue_on_error=false --trust-workspace → evidence=exit-code status=success',
      '6 run gated --trust-workspace → evidence=exit-code status=success status=waiting',
      '1 runs resume RUN --trust-workspace → plan-changed',
      '6 runs resume RUN --force --trust-workspace → evidence=exit-code status=success status=waiting',
      '3 runs import .skillrail/runs/0none.jsonl → run-not-found',
      '0 runs prune --older-than 30',
      '0 runs prune --dry-run',
      '2 runs prune → prune-unlimited',
      '0 runs prune --keep 2 --dry-run',
      '0 runs prune --keep 2',
      '0 runs list → status=success status=waiting',
      '0 runs prune --keep 0 --unfinished',
      '0 runs list',
    ],
  ),
)

it('refuses runs that are invalid or do not exist', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
      chains(scenario)
      for (const line of [
        'run nothing',
        'run .skillrail/skills/nothing',
        `run simple --from nothing ${trusted}`,
        `run simple --only nothing ${trusted}`,
        `run simple --from build --only build ${trusted}`,
        `run simple --set nonsense=1 ${trusted}`,
        `run simple --set timeout ${trusted}`,
        `run simple --set timeout=x ${trusted}`,
        `run simple --report xml ${trusted}`,
        `run simple --report json --report junit ${trusted}`,
        `run simple --max-time x ${trusted}`,
        `run simple --grant all ${trusted}`,
        `run simple --engine steam ${trusted}`,
        `run simple --engine restate --url http://127.0.0.1:1 ${trusted}`,
        `run simple --url http://127.0.0.1:1 ${trusted}`,
        `run thinking --via nobody ${trusted}`,
        `run thinking --via claude ${trusted}`,
        `run thinking --model x ${trusted}`,
        `run thinking --model openai-compatible:x ${trusted}`,
        `run simple --tools nothing ${trusted}`,
        'runs show nothing',
        'runs show 0mh2k9x0ab12cd',
        'runs resume 0mh2k9x0ab12cd',
        'runs retry 0mh2k9x0ab12cd',
        'runs fork 0mh2k9x0ab12cd --from x',
        'runs cancel 0mh2k9x0ab12cd',
        'runs approve 0mh2k9x0ab12cd',
        'runs reject 0mh2k9x0ab12cd',
        'runs prune --older-than x',
        'runs prune --keep x',
        'chain next 0mh2k9x0ab12cd',
        'chain status nothing',
      ]) {
        await json(line)
      }
      await run(`run simple --unsafe-no-sandbox`)
    },
    [
      '3 run nothing → skill-not-found',
      '3 run .skillrail/skills/nothing → skill-not-found',
      '3 run simple --from nothing --trust-workspace → step-unknown',
      '3 run simple --only nothing --trust-workspace → step-unknown',
      '2 run simple --from build --only build --trust-workspace → wrong-use',
      '2 run simple --set nonsense=1 --trust-workspace → wrong-use',
      '2 run simple --set timeout --trust-workspace → wrong-use',
      '2 run simple --set timeout=x --trust-workspace → wrong-use',
      '2 run simple --report xml --trust-workspace → wrong-use',
      '2 run simple --report json --report junit --trust-workspace → wrong-use',
      '2 run simple --max-time x --trust-workspace → option-number',
      '2 run simple --grant all --trust-workspace → wrong-use',
      '2 run simple --engine steam --trust-workspace → wrong-use',
      '1 run simple --engine restate --url http://127.0.0.1:<port> --trust-workspace → restate-away',
      '2 run simple --url http://127.0.0.1:<port> --trust-workspace → wrong-use',
      '2 run thinking --via nobody --trust-workspace → wrong-use',
      '3 run thinking --via claude --trust-workspace → client-missing',
      '2 run thinking --model x --trust-workspace → wrong-use',
      '2 run thinking --model openai-compatible:x --trust-workspace → base-url-missing',
      '2 run simple --tools nothing --trust-workspace → wrong-use',
      '3 runs show nothing → run-not-found',
      '3 runs show <id 1> → run-not-found',
      '3 runs resume <id 1> → run-not-found',
      '3 runs retry <id 1> → run-not-found',
      '3 runs fork <id 1> --from x → run-not-found',
      '3 runs cancel <id 1> → run-not-found',
      '3 runs approve <id 1> → run-not-found',
      '3 runs reject <id 1> → run-not-found',
      '2 runs prune --older-than x → option-number',
      '2 runs prune --keep x → option-number',
      '3 chain next <id 1> → run-not-found',
      '3 chain status nothing → run-not-found',
      '0 run simple --unsafe-no-sandbox',
    ],
  ),
)

it('plans chains and writes reports', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
      chains(scenario)
      for (const line of [
        `run outer --dry-run ${trusted}`,
        'run outer --dry-run',
        `run gated --only build --dry-run ${trusted}`,
        `run gated --from measure --dry-run ${trusted}`,
        `chain plan outer ${trusted}`,
        'chain plan outer',
        `chain plan outer --format mermaid ${trusted}`,
        `chain plan outer --format svg ${trusted}`,
        `chain plan thinking ${trusted}`,
        `chain plan thinking --via claude ${trusted}`,
        `chain plan thinking --model openai-compatible:x --tools read ${trusted}`,
        `chain plan parallel --set parallel_limit=2 ${trusted}`,
        `chain plan simple --only measure ${trusted}`,
        `chain plan simple --from measure ${trusted}`,
        `chain plan absent ${trusted}`,
        `chain plan circle ${trusted}`,
        `chain plan wrong ${trusted}`,
        `chain plan build ${trusted}`,
        'chain plan nothing',
      ]) {
        await json(line)
      }
      for (const format of ['json', 'junit', 'github', 'html']) {
        await run(`run lenient --report ${format}=report.${format} ${trusted}`)
        await run(`runs show RUN --report ${format}`)
      }
      await run(`run lenient --report junit --quiet ${trusted}`)
      await run(`run simple --events ${trusted}`)
      await run(`run stopping --events=events.jsonl ${trusted}`)
      await run(`run simple --quiet ${trusted}`)
      await run(`run simple --verbose ${trusted}`)
      await run(`run simple --from measure ${trusted}`)
      await run(`run simple --only measure --json ${trusted}`)
      await run(`run checked --require-verified ${trusted}`)
      await run(`run build ${trusted} -- --looks-like an option`)
      await run(`run limited --max-time 0.5 ${trusted}`)
      await run('runs show RUN')
      await run(`run long ${trusted}`, { interrupt: { when: '✓ build', signal: 'SIGINT' } })
      await json('runs show RUN')
    },
    [
      '0 run outer --dry-run --trust-workspace → trust=trusted',
      '0 run outer --dry-run → trust=untrusted',
      '0 run gated --only build --dry-run --trust-workspace → trust=trusted',
      '0 run gated --from measure --dry-run --trust-workspace → trust=trusted',
      '0 chain plan outer --trust-workspace → trust=trusted',
      '0 chain plan outer → trust=untrusted',
      '2 chain plan outer --format mermaid --trust-workspace → wrong-use',
      '2 chain plan outer --format svg --trust-workspace → wrong-use',
      '3 chain plan thinking --trust-workspace → no-executor trust=trusted',
      '0 chain plan thinking --via claude --trust-workspace → trust=trusted',
      '0 chain plan thinking --model openai-compatible:x --tools read --trust-workspace → trust=trusted',
      '0 chain plan parallel --set parallel_limit=2 --trust-workspace → trust=trusted',
      '0 chain plan simple --only measure --trust-workspace → trust=trusted',
      '0 chain plan simple --from measure --trust-workspace → trust=trusted',
      '3 chain plan absent --trust-workspace → step-missing trust=trusted trust=untrusted',
      '3 chain plan circle --trust-workspace → chain-cycle trust=trusted trust=untrusted',
      '3 chain plan wrong --trust-workspace → chain-unknown-key field-type trust=trusted',
      '0 chain plan build --trust-workspace → trust=trusted',
      '3 chain plan nothing → skill-not-found',
      '1 run lenient --report json=report.json --trust-workspace',
      '0 runs show RUN --report json',
      '1 run lenient --report junit=report.junit --trust-workspace',
      '0 runs show RUN --report junit',
      '1 run lenient --report github=report.github --trust-workspace',
      '0 runs show RUN --report github',
      '1 run lenient --report html=report.html --trust-workspace',
      '0 runs show RUN --report html',
      '1 run lenient --report junit --quiet --trust-workspace',
      '0 run simple --events --trust-workspace',
      '1 run stopping --events=events.jsonl --trust-workspace',
      '0 run simple --quiet --trust-workspace',
      '0 run simple --verbose --trust-workspace',
      '0 run simple --from measure --trust-workspace',
      '0 run simple --only measure --trust-workspace → evidence=exit-code status=not_run status=success',
      '1 run checked --require-verified --trust-workspace',
      '0 run build --trust-workspace -- --looks-like an option',
      '5 run limited --max-time 0.5 --trust-workspace',
      '0 runs show RUN',
      '130 run long --trust-workspace',
      '0 runs show RUN → evidence=exit-code status=cancelled status=interrupted status=not_run status=success',
    ],
  ),
)

it('lets an agent execute a chain', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json } = scenario
      chains(scenario)
      await json(`chain start thinking ${trusted} weather`)
      await json('chain status RUN')
      await json(`chain next RUN ${trusted}`)
      await json('chain report RUN')
      await json(`chain report RUN --step nothing --status success ${trusted}`)
      await json(`chain report RUN --step prompted --status maybe ${trusted}`)
      await json(`chain report RUN --step prompted --status success --metric x ${trusted}`)
      await json(
        `chain report RUN --step prompted --status success --result "sunny" --metric words=3 ${trusted}`,
      )
      await json(`chain report RUN --step prompted --status success ${trusted}`)
      await json('chain status RUN')
      await json(`chain next RUN ${trusted}`)
      await json(`chain start thinking --require-verified ${trusted}`)
      await json(`chain report RUN --step prompted --status success ${trusted}`)
      await json(`chain start thinking ${trusted}`)
      await json(
        `chain report RUN --step prompted --status failure --error "no idea" --error tired ${trusted}`,
      )
      await json('chain status RUN')
      await json('runs show RUN')
      await json(`chain start gated ${trusted}`)
      await json(`chain next RUN ${trusted}`)
      await json('runs list')
      await json('chain start nothing')
      await json(`chain start build ${trusted}`)
    },
    [
      '0 chain start thinking --trust-workspace weather',
      '0 chain status RUN → evidence=exit-code status=success status=waiting',
      '0 chain next RUN --trust-workspace',
      '2 chain report RUN → wrong-use',
      '1 chain report RUN --step nothing --status success --trust-workspace → report-refused',
      '2 chain report RUN --step prompted --status maybe --trust-workspace → wrong-use',
      '2 chain report RUN --step prompted --status success --metric x --trust-workspace → wrong-use',
      '0 chain report RUN --step prompted --status success --result "sunny" --metric words=3 --trust-workspace → evidence=exit-code evidence=self-reported status=success',
      '1 chain report RUN --step prompted --status success --trust-workspace → run-ended',
      '0 chain status RUN → evidence=exit-code evidence=self-reported status=success',
      '0 chain next RUN --trust-workspace → evidence=exit-code evidence=self-reported status=success',
      '0 chain start thinking --require-verified --trust-workspace',
      '1 chain report RUN --step prompted --status success --trust-workspace → evidence=exit-code evidence=self-reported not-verified status=failure status=success',
      '0 chain start thinking --trust-workspace',
      '1 chain report RUN --step prompted --status failure --error "no idea" --error tired --trust-workspace → evidence=exit-code evidence=self-reported reported status=failure status=success',
      '0 chain status RUN → evidence=exit-code evidence=self-reported reported status=failure status=success',
      '0 runs show RUN → evidence=exit-code evidence=self-reported reported status=failure status=success',
      '6 chain start gated --trust-workspace',
      '6 chain next RUN --trust-workspace',
      '0 runs list → status=failure status=success status=waiting',
      '3 chain start nothing → skill-not-found',
      '0 chain start build --trust-workspace → evidence=exit-code status=success',
    ],
  ),
)
