import { golden, type Scenario } from './_golden.ts'

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

/** The life of runs, as text or with `--json`: every command changes something. */
function lives(json: '' | ' --json') {
  return async (scenario: Scenario): Promise<void> => {
    const { run, skill } = scenario
    chains(scenario)
    const say = (line: string): Promise<unknown> => run(`${line}${json}`)
    await say(`runs list`)
    await say(`run build ${trusted} one`)
    await say('runs list')
    await say('runs show RUN')
    await say('runs logs RUN')
    await say('runs resume RUN')
    await say('runs approve RUN')
    await say('runs reject RUN')
    await say('runs cancel RUN')
    for (const name of ['simple', 'stopping', 'lenient', 'critical', 'malformed', 'parallel']) {
      await say(`run ${name} ${trusted}`)
      await say('runs show RUN')
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
      await say(`run ${name} ${trusted}`)
    }
    await say(`run resumable ${trusted}`)
    await say(`runs resume RUN ${trusted}`)
    await say(`runs retry RUN ${trusted}`)
    await say('runs show RUN')
    await say(`runs fork RUN --from measure ${trusted}`)
    await say(`runs fork RUN --from nothing ${trusted}`)
    await say(`runs fork RUN ${trusted}`)
    await say(`run gated ${trusted}`)
    await say('runs show RUN')
    await say('runs list')
    await say('runs approve RUN')
    await say('runs approve RUN --step nothing')
    await say(`runs resume RUN ${trusted}`)
    await say(`runs resume RUN --yes-gates ${trusted}`)
    await say(`run gated ${trusted}`)
    await say('runs reject RUN')
    await say('runs cancel RUN')
    await say('runs cancel RUN')
    await say(`runs resume RUN ${trusted}`)
    await say(`run gated --yes-gates ${trusted}`)
    await say(`run outer --yes-gates ${trusted}`)
    await say('runs show RUN')
    await say(`run simple --set timeout=5 --set continue_on_error=false ${trusted}`)
    await say(`run gated ${trusted}`)
    skill('measure', { run: 'echo changed' })
    await say(`runs resume RUN ${trusted}`)
    await say(`runs resume RUN --force ${trusted}`)
    await say('runs import .skillrail/runs/0none.jsonl')
    await say('runs prune --older-than 30')
    await say('runs prune --dry-run')
    await say('runs prune')
    await say('runs prune --keep 2 --dry-run')
    await say('runs prune --keep 2')
    await say('runs list')
    await say('runs prune --keep 0 --unfinished')
    await say('runs list')
  }
}

golden('runs', {
  'as text': lives(''),
  'with --json': lives(' --json'),
})

golden('run', {
  async 'what is refused'(scenario) {
    const { both, run } = scenario
    chains(scenario)
    for (const line of [
      'run simple',
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
      await both(line)
    }
    await run(`run simple --unsafe-no-sandbox`)
  },
  async 'plans and reports'(scenario) {
    const { both, run, file } = scenario
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
      await both(line)
    }
    for (const format of ['json', 'junit', 'github', 'html']) {
      await run(`run lenient --report ${format}=report.${format} ${trusted}`)
      file(`project/report.${format}`)
      await run(`runs show RUN --report ${format}`)
    }
    await run(`run lenient --report junit --quiet ${trusted}`)
    await run(`run simple --events ${trusted}`)
    await run(`run stopping --events=events.jsonl ${trusted}`)
    file('project/events.jsonl')
    await run(`run simple --quiet ${trusted}`)
    await run(`run simple --verbose ${trusted}`)
    await run(`run simple --from measure ${trusted}`)
    await run(`run simple --only measure --json ${trusted}`)
    await run(`run checked --require-verified ${trusted}`)
    await run(`run build ${trusted} -- --looks-like an option`)
    await run(`run limited --max-time 0.5 ${trusted}`)
    await run('runs show RUN')
    await run(`run long ${trusted}`, { interrupt: { when: '✓ build', signal: 'SIGINT' } })
    await both('runs show RUN')
  },
})

/** A chain that an agent carries out, as text or with `--json`. */
function stepper(json: '' | ' --json') {
  return async (scenario: Scenario): Promise<void> => {
    const { run } = scenario
    chains(scenario)
    const say = (line: string): Promise<unknown> => run(`${line}${json}`)
    await say('chain start thinking')
    await say(`chain start thinking ${trusted} weather`)
    await say('chain status RUN')
    await say(`chain next RUN ${trusted}`)
    await say('chain report RUN')
    await say(`chain report RUN --step nothing --status success ${trusted}`)
    await say(`chain report RUN --step prompted --status maybe ${trusted}`)
    await say(`chain report RUN --step prompted --status success --metric x ${trusted}`)
    await say(
      `chain report RUN --step prompted --status success --result "sunny" --metric words=3 ${trusted}`,
    )
    await say(`chain report RUN --step prompted --status success ${trusted}`)
    await say('chain status RUN')
    await say(`chain next RUN ${trusted}`)
    await say(`chain start thinking --require-verified ${trusted}`)
    await say(`chain report RUN --step prompted --status success ${trusted}`)
    await say(`chain start thinking ${trusted}`)
    await say(
      `chain report RUN --step prompted --status failure --error "no idea" --error tired ${trusted}`,
    )
    await say('chain status RUN')
    await say('runs show RUN')
    await say(`chain start gated ${trusted}`)
    await say(`chain next RUN ${trusted}`)
    await say('runs list')
    await say('chain start nothing')
    await say(`chain start build ${trusted}`)
  }
}

golden('chain', {
  'an agent carries a chain out, as text': stepper(''),
  'an agent carries a chain out, with --json': stepper(' --json'),
})
