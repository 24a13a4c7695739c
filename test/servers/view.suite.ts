import { rmSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pageText } from '../../src/view/page-text.ts'
import type { ProjectView } from '../../src/view/project-view.ts'
import { questionFields } from '../../src/view/questions.ts'
import { runAnswer } from '../../src/view/run-answer.ts'
import { runCli } from '../cli/run-cli.ts'
import { startView, type ViewProcess } from '../view/_command.ts'
import { makeViewProject, type ViewProject } from '../view/_project.ts'
import { openTestView, type TestView } from '../view/_view.ts'
import { resultOf, runSaying, standing, projectSaying } from '../view/project-saying.ts'
import { attack, gained } from './attack.ts'
import { type Browser, type BrowserPage, openBrowser } from './browser-page.ts'
import { hostileTexts } from './hostile-texts.ts'
import { listenOnLoopback } from './loopback.ts'
import { isMissing, skipReason } from './needs.ts'

/** Tabs with what shows that their data are there, in the project of these tests. */
const tabs: readonly (readonly [name: string, shows: string])[] = [
  ['overview', 'Needs attention'],
  ['skills', 'Puts the build on the staging servers.'],
  ['triggers', '2 triggers'],
  ['chains', 'Everything, every night.'],
  ['runs', 'nightly'],
  ['tools', 'database__execute_query'],
]

const shows = (text: string): string =>
  `document.body?.innerText.includes(${JSON.stringify(text)}) === true`
const clickOn = (selector: string, text: string): string =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.innerText.includes(${JSON.stringify(text)})).click()`
const typeInto = (selector: string, text: string): string => `{
  const field = document.querySelector(${JSON.stringify(selector)})
  field.value = ${JSON.stringify(text)}
  field.dispatchEvent(new Event('input'))
}`

describe.skipIf(isMissing('chromium'))(`the view in a browser${skipReason('chromium')}`, () => {
  let browser: Browser
  let page: BrowserPage
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())
  beforeEach(async () => {
    page = await browser.newPage()
    await page.resize({ width: 1200, height: 760 })
  })
  afterEach(() => page.close())

  describe('of a project', () => {
    let project: ViewProject
    let view: ViewProcess
    const cli = (...args: string[]) => runCli(args, { cwd: project.directory, home: project.home })
    beforeAll(async () => {
      project = makeViewProject()
      await cli('trust', '--yes')
      await cli('run', 'release')
      await cli('run', 'nightly')
      view = await startView(project.directory, project.home)
    })
    afterAll(async () => {
      await view.interrupt()
      project.remove()
    })

    const open = async (): Promise<void> => {
      await page.go(await view.address())
      await page.until(shows('Needs attention'))
      await page.evaluate(`location.hash = '#/skills'`)
      await page.until(shows('Puts the build on the staging servers.'))
    }
    /** It asked this server alone, and nothing was refused, raised or opened. */
    const expectQuiet = (): void => {
      const own = `http://127.0.0.1:${view.port}/`
      expect(
        page.requests.filter(
          (address) => !/^(?:about|data):/.test(address) && !address.startsWith(own),
        ),
      ).toEqual([])
      expect(page.incidents).toEqual([])
    }

    it('shows every tab with its data, and takes the token out of the address', async () => {
      await page.go(await view.address())
      await page.until(shows('Needs attention'))
      expect(await page.evaluate('location.href')).toBe(`http://127.0.0.1:${view.port}/#/overview`)
      expect(await page.evaluate('history.length')).toBeLessThan(4)
      for (const [name, text] of tabs) {
        await page.evaluate(`location.hash = '#/${name}'`)
        await page.until(shows(text))
      }
      expectQuiet()
    })

    it('shows a skill, a prompt and its references, a plan, a failed step and a tool', async () => {
      await open()
      await page.evaluate(clickOn('.row', 'deploy-staging'))
      await page.until(shows('description: Puts the build on the staging servers.'))
      await page.evaluate(`location.hash = '#/triggers'`)
      await page.until('document.querySelector("textarea") !== null')
      await page.evaluate(typeInto('textarea', 'please deploy to staging'))
      await page.until(shows('1 reference injected'))
      await page.until(shows('references/staging.md'))
      await page.evaluate(`location.hash = '#/chains'`)
      await page.until(shows('release'))
      await page.evaluate(clickOn('.row', 'release'))
      await page.until(shows('Last run'))
      await page.until(shows('skillrail run release'))
      await page.evaluate(`location.hash = '#/runs'`)
      await page.until(shows('nightly'))
      await page.evaluate(clickOn('.row', 'nightly'))
      await page.until(shows('Failed first: e2e-tests'))
      await page.until(shows('expected 200, got 503'))
      await page.evaluate(clickOn('.row', 'release'))
      await page.until(shows('deploy-staging waits for your approval'))
      await page.evaluate(clickOn('summary', 'Other ways to approve'))
      await page.until(shows('skillrail runs approve '))
      await page.evaluate(`location.hash = '#/tools'`)
      await page.until(shows('no-such-server --api-key [redacted]'))
      await page.evaluate(clickOn('.row', 'database__execute_query'))
      await page.until(shows('database (enforce)'))
      expectQuiet()
    })

    it('follows a run that continues, without a request of the user', async () => {
      await open()
      await page.evaluate(`location.hash = '#/runs'`)
      await page.until(shows('release'))
      project.write('hold', '')
      const running = cli('run', 'nightly')
      await page.until('document.querySelector(".row .chip.running") !== null')
      await page.evaluate('document.querySelector(".row:has(.chip.running)").click()')
      await page.until('document.querySelector(".step .mark.running") !== null')
      rmSync(join(project.directory, 'hold'))
      await running
      await page.until('document.querySelector(".chip.running") === null')
      await page.until(
        `${shows('skillrail runs retry ')} && document.querySelectorAll('.step .mark.success').length === 1`,
      )
      expectQuiet()
    })

    it('moves the focus to the opened item, and keeps the search', async () => {
      await open()
      await page.evaluate(typeInto('.search', 'nightly'))
      await page.until('document.querySelectorAll(".row").length === 1')
      await page.evaluate(clickOn('.row', 'nightly'))
      await page.until(`document.activeElement.className === 'detail'`)
      await page.evaluate(`location.hash = '#/runs'`)
      await page.until(shows('release'))
      await page.evaluate(`location.hash = '#/skills'`)
      await page.until(`document.querySelector('.count')?.innerText.startsWith('1 of ') === true`)
      expect(await page.evaluate(`document.querySelector('.search').value`)).toBe('nightly')
      await page.evaluate(typeInto('.search', ''))
      expectQuiet()
    })

    it('shows the text of a skill that cannot be used', async () => {
      await open()
      await page.evaluate(clickOn('.row', 'broken'))
      await page.until(shows('This skill cannot be used'))
      await page.until(shows('description: [a'))
      expectQuiet()
    })

    it('states the maximum length of a prompt, and reports a missing tool without a second error', async () => {
      await open()
      await page.evaluate(`location.hash = '#/triggers'`)
      await page.until('document.querySelector("textarea") !== null')
      await page.evaluate(typeInto('textarea', 'deploy to staging '.repeat(20_000)))
      await page.until(shows('This is too long: at most 256 KiB are looked at.'))
      await page.evaluate(`location.hash = '#/tools/nothing'`)
      await page.until(shows('Tool not found: nothing'))
      expect(await page.evaluate(shows('Error: Tool'))).toBe(false)
    })

    it('fits a telephone in every tab, in both colour schemes', async () => {
      await open()
      for (const scheme of ['light', 'dark'] as const) {
        await page.resize({ width: 360, height: 740, scheme })
        for (const [name, text] of tabs) {
          await page.evaluate(`location.hash = '#/${name}'`)
          await page.until(shows(text))
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
          expect(await page.evaluate(crushed)).toEqual([])
          expect(await page.evaluate(scrollersInScrollers)).toEqual([])
        }
        const dark = 'getComputedStyle(document.body).backgroundColor === "rgb(13, 17, 23)"'
        expect(await page.evaluate(dark)).toBe(scheme === 'dark')
      }
      await page.evaluate(clickOn('a', 'Runs'))
      await page.until(shows('nightly'))
      await page.evaluate(clickOn('.row', 'nightly'))
      await page.until(shows('Back to the list'))
      expect(await page.evaluate('getComputedStyle(document.querySelector(".list")).display')).toBe(
        'none',
      )
    })

    it('shows nothing without the token, and only an error with a wrong one', async () => {
      await page.go(`http://127.0.0.1:${view.port}/`)
      await page.until(shows('Nothing is shown without the whole address'))
      await page.go(`http://127.0.0.1:${view.port}/?token=${view.token}`)
      await expect
        .poll(() => page.requests.some((address) => address.includes('?token=')))
        .toBe(true)
      expect(page.requests.filter((address) => address.includes('/api/'))).toEqual([])
      await page.go(`http://127.0.0.1:${view.port}/#once-${'0'.repeat(64)}`)
      await page.until(shows('Nothing is shown without the whole address'))
      await page.evaluate(`sessionStorage.setItem('skillrail-token', '${'0'.repeat(64)}')`)
      await page.evaluate('location.reload()')
      await page.until(shows('This address is no longer valid.'))
      expect(await page.evaluate(shows('deploy-staging'))).toBe(false)
      expect(page.requests.filter((address) => address.includes('/api/skill-text'))).toEqual([])
    })

    it('shows the problem of a run that did not become stable, though no step failed', async () => {
      writeRestlessChain(project)
      await cli('trust', '--yes')
      await cli('run', 'restless')
      await open()
      await page.evaluate(`location.hash = '#/runs'`)
      await page.until(shows('restless'))
      await page.evaluate(clickOn('.row', 'restless'))
      await page.until(shows('Attempt 2: failure'))
      const [, last = '', first = ''] = String(
        await page.evaluate(`document.querySelector('.detail').innerText`),
      ).split(/^Attempt /m)
      expect(last).toMatch(/^2: failure\n+not-stable no two of 2 attempts in a row had /)
      expect(first).toMatch(/^1: success\n/)
      expect(first).not.toContain('not-stable')
      expectQuiet()
    })

    it('draws parallel steps side by side, and shows results and failed attempts without a click', async () => {
      writeFlakyChain(project)
      await cli('trust', '--yes')
      await cli('run', 'ship')
      const { runs } = await view.ask('runs', { most: 9 })
      const { runId } = runs.find(({ skill }: { skill: string }) => skill === 'ship')
      await open()
      await page.evaluate(`location.hash = '#/runs/${runId}'`)
      await page.until(shows('2 in parallel'))
      await page.until(shows('214 tests passed'))
      await page.until(shows('attempt 1: failure'))
      await page.until(shows('attempt 2: it worked'))
      const places = `(() => {
        const [a, b] = [...document.querySelectorAll('.nested .parallel .node')].map((one) => one.getBoundingClientRect())
        return a.top === b.top ? 'beside' : a.left === b.left ? 'below' : 'elsewhere'
      })()`
      expect(await page.evaluate(places)).toBe('beside')
      await page.resize({ width: 400, height: 760 })
      expect(await page.evaluate(places)).toBe('below')
      expectQuiet()
    })

    describe('at a gate', () => {
      let ownBrowser: Browser
      let person: BrowserPage
      beforeAll(async () => {
        ownBrowser = await openBrowser({ saysDriven: false })
      })
      afterAll(() => ownBrowser.close())
      beforeEach(async () => {
        person = await ownBrowser.newPage()
        await person.resize({ width: 1200, height: 760 })
      })
      afterEach(() => person.close())

      const runToGate = async (options: string): Promise<string> => {
        const chain = `metadata:\n  chain: |\n    unit-tests\n    deploy-staging ${options}\n`
        project.write('.skillrail/skills/gated/SKILL.md', skillText('gated', chain))
        await cli('trust', '--yes')
        return JSON.parse((await cli('run', 'gated', '--json')).stdout).runId
      }
      const openRun = async (tab: BrowserPage, runId: string): Promise<void> => {
        await tab.go(await view.address())
        await tab.until(shows('Needs attention'))
        await tab.evaluate(`location.hash = '#/runs/${runId}'`)
        await tab.until(shows('deploy-staging waits for your approval'))
      }
      const approvalsOf = async (runId: string): Promise<object[]> =>
        JSON.parse((await cli('runs', 'show', runId, '--json')).stdout).approvals ?? []

      it('shows the results, approves by a click, and continues the run', async () => {
        const runId = await runToGate('gate=attended')
        await openRun(person, runId)
        await person.until(shows('214 tests passed'))
        await person.evaluate(typeInto('.decision input', 'seen'))
        await person.evaluate(clickOn('.decision button', 'Approve'))
        await person.until(`document.querySelector('h1 .chip.success') !== null`)
        await person.until('document.querySelector(".gate") === null')
        expect(await approvalsOf(runId)).toMatchObject([
          { approved: true, channel: 'view', strength: 'attended', reason: 'seen' },
        ])
        expect(await person.evaluate('location.href + history.length')).not.toContain('once-')
        expect(person.incidents).toEqual([])
      })

      it('needs a reason to lead back, and shows the next round', async () => {
        const runId = await runToGate('gate rework=unit-tests')
        await openRun(person, runId)
        await person.until(shows('Rejecting leads back to unit-tests.'))
        await person.evaluate(clickOn('.decision button', 'Reject'))
        await person.until(shows('Write the reason'))
        expect(await approvalsOf(runId)).toEqual([])
        await person.evaluate(typeInto('.decision input', 'test it again'))
        await person.evaluate(clickOn('.decision button', 'Reject'))
        await person.until(shows('round 2: deploy-staging was rejected (test it again)'))
        await person.until(shows('deploy-staging waits for your approval'))
        expect(await person.evaluate(`document.querySelector('.decision input').value`)).toBe('')
      })

      it('decides nothing in a tab that shows what waits no more', async () => {
        const runId = await runToGate('gate')
        await openRun(person, runId)
        // The tab asks no more, as one that the browser has put to sleep.
        const asleep = `Object.defineProperty(document, 'hidden', { get: () => true })`
        await person.evaluate(asleep)
        await new Promise((done) => setTimeout(done, 1500))
        await openRun(page, runId)
        await cli('runs', 'cancel', runId)
        await person.evaluate(clickOn('.decision button', 'Approve'))
        await person.until(shows('nothing was decided'))
        expect(await approvalsOf(runId)).toEqual([])
      })

      it('takes no decision from a browser that says that a program drives it', async () => {
        const runId = await runToGate('gate')
        await openRun(page, runId)
        await page.evaluate(clickOn('.decision button', 'Approve'))
        await page.until(shows('a program drives it'))
        await page.until(shows(`skillrail runs approve ${runId}`))
        expect(await approvalsOf(runId)).toEqual([])
      })
    })

    it('has no accessibility problem that axe-core reports, in any tab, wide and narrow, in both colour schemes', async () => {
      await open()
      await page.evaluate(axe.source)
      const { skills } = await view.ask('skills')
      const { runs } = await view.ask('runs', { most: 9 })
      const chain = skills.find(({ name }: { name: string }) => name === 'release')
      const opened: (readonly [name: string, shows: string])[] = [
        [`skills/${chain.id}`, 'What it can execute'],
        [`chains/${chain.id}`, 'Last run'],
        ...runs.map(({ runId }: { runId: string }) => [`runs/${runId}`, 'last change'] as const),
        ['tools/database__execute_query', 'database (enforce)'],
      ]
      const problems: unknown[] = []
      for (const scheme of ['light', 'dark'] as const) {
        for (const width of [1280, 400]) {
          await page.resize({ width, height: 860, scheme })
          for (const [place, text] of [...tabs, ...opened]) {
            await page.evaluate(`location.hash = '#/${place}'`)
            await page.until(shows(text))
            const violations = await page.evaluate(violated)
            for (const one of [violations].flat()) problems.push([scheme, width, place, one])
            expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
          }
        }
      }
      expect(problems).toEqual([])
      expectQuiet()
    })
  })

  describe('of a hostile project', () => {
    let view: TestView
    afterEach(() => view.stop())
    const open = async (project: ProjectView): Promise<void> => {
      view = await openTestView(project, { page: await pageText() })
    }

    it('runs, loads and opens nothing from the text of a skill, a tool or a model', async () => {
      const reached: string[] = []
      const beacon = await listenOnLoopback((request, response) => {
        reached.push(request.url ?? '')
        response.end()
      })
      const texts = [
        ...hostileTexts(beacon.url),
        `javascript:fetch('${beacon.url}/ran')`,
        `\u202e<img src=x onerror="fetch('${beacon.url}/ran')">\u{e0041}\u{e0042}`,
        `<script>alert(1)</script><img src=x onerror=alert(2)>`,
      ].join(' ')
      await open(projectSaying(texts))
      await page.go(view.address)
      await page.until('document.querySelector(".row") !== null')
      for (const [name] of tabs) {
        await page.evaluate(`location.hash = '#/${name}'`)
        await page.until(`document.querySelector('main').innerText.includes('<script>')`)
        await page.evaluate('document.querySelector(".row")?.click()')
        if (name === 'triggers') await page.evaluate(typeInto('textarea', texts))
        await page.until(
          `document.querySelector('.detail, .single').innerText.includes('<script>')`,
        )
        // Everything that can be clicked without leaving the tab is.
        await page.evaluate(
          `for (const one of document.querySelectorAll('main button, summary')) one.click()`,
        )
        await new Promise((done) => setTimeout(done, 300))
        expect(
          await page.evaluate(
            `document.querySelectorAll('img, iframe, object, embed, base, form, svg, main script, main style, link[rel=stylesheet], [onerror], [onload], [onfocus], [onmouseover]').length`,
          ),
        ).toBe(0)
        expect(
          await page.evaluate(
            `[...document.querySelectorAll('a')].every((link) => link.getAttribute('href').startsWith('#/'))`,
          ),
        ).toBe(true)
        expect(
          await page.evaluate(
            String.raw`/[\u202e\u{e0041}]/u.test(document.documentElement.textContent)`,
          ),
        ).toBe(false)
      }
      const own = `http://127.0.0.1:${view.port}/`
      expect(
        page.requests.filter(
          (address) => !/^(?:about|data):/.test(address) && !address.startsWith(own),
        ),
      ).toEqual([])
      expect({ reached, incidents: page.incidents }).toEqual({ reached: [], incidents: [] })
      await beacon.stop()
    })

    it('detects violations of its policy, so that the test above can fail', async () => {
      await open(projectSaying('x'))
      await page.go(view.address)
      await page.until(shows('Needs attention'))
      await page.evaluate(
        `document.body.append(Object.assign(document.createElement('img'), { src: 'http://127.0.0.1:9/x' }))`,
      )
      await expect
        .poll(() => page.incidents.join('\n'))
        .toMatch(/policy: .*Content Security Policy.*img-src/)
      expect(
        await page.evaluate(
          `try { document.body.innerHTML = '<b>x</b>'; 'made' } catch (error) { error.name }`,
        ),
      ).toBe('TypeError')
    })

    it('refuses a page of another origin, and one whose name was bound to this machine', async () => {
      for (const name of ['127.0.0.1', 'rebound.example']) {
        const outcome = await attack(async (note) => {
          const own = await openTestView(
            projectSaying('secret', {
              skills(question) {
                note('/api/skills')
                return projectSaying('secret').skills(question)
              },
            }),
            { page: await pageText() },
          )
          view = own
          return { port: own.port, token: own.token, path: '/api/skills', stop: own.stop }
        }, name)
        expect(gained(outcome)).toEqual([])
        expect(Object.keys(outcome.got)).toHaveLength(13)
        expect(outcome.carriedOut).toEqual([])
      }
    })

    it('accepts every address once, and not again after the browser lost its token', async () => {
      await open(projectSaying('seen'))
      const first = view.address
      for (const address of [first, view.addressToOpen]) {
        await page.go(address)
        await page.until(shows('seen'))
        expect(await page.evaluate('location.hash')).toBe('#/overview')
        await page.evaluate('sessionStorage.clear()')
        await page.go(address)
        await page.until(shows('Nothing is shown without the whole address'))
      }
      expect(view.address).not.toBe(first)
      await page.go(view.address)
      await page.until(shows('seen'))
    })

    it('reports that the program has ended', async () => {
      await open(projectSaying('seen'))
      await page.go(view.address)
      await page.until(shows('seen'))
      await view.stop()
      await page.evaluate(`location.hash = '#/tools'`)
      await page.until(shows('The program behind this page has ended.'))
      await page.until(shows('Run skillrail view and open the address that it prints.'))
    })

    it('follows the visible item, and not an item that was clicked earlier', async () => {
      let answerFirst = (): void => undefined
      const first = new Promise<void>((done) => (answerFirst = done))
      const wanted: string[] = []
      await open(
        projectSaying('x', {
          runs: () =>
            listOf(['0slow', '0fast'].map((runId) => ({ ...rowOf(runId), skill: runId }))),
          async run({ text }) {
            const runId = text('id')
            wanted.push(runId)
            if (runId === '0slow') await first
            return runAnswer(standing({ ...resultOf(['x']), runId, skill: runId }))
          },
        }),
      )
      await page.go(view.address)
      await page.until(shows('Needs attention'))
      await page.evaluate(`location.hash = '#/runs'`)
      await page.until(shows('0slow'))
      await page.evaluate(clickOn('.row', '0slow'))
      await expect.poll(() => wanted).toContain('0slow')
      await page.evaluate(clickOn('.row', '0fast'))
      await page.until(
        `document.querySelector('.detail h1')?.innerText.startsWith('0fast') === true`,
      )
      answerFirst()
      wanted.length = 0
      await expect.poll(() => wanted.length, { timeout: 10_000 }).toBeGreaterThan(1)
      expect(new Set(wanted)).toEqual(new Set(['0fast']))
      // Without a choice, the newest run is shown.
      await page.evaluate(`location.hash = '#/runs'`)
      await page.until(
        `document.querySelector('.detail h1')?.innerText.startsWith('0slow') === true`,
      )
    })

    it('shows the newest run while none is chosen, and keeps it when another one begins', async () => {
      const ids = ['0second']
      await open(
        projectSaying('x', {
          runs: () => listOf(ids.map((runId) => ({ ...rowOf(runId), skill: runId }))),
          run: ({ text }) =>
            runAnswer(standing({ ...resultOf(['x']), runId: text('id'), skill: text('id') })),
        }),
      )
      await page.go(view.address)
      await page.until(shows('Needs attention'))
      await page.evaluate(`location.hash = '#/runs'`)
      const heading = `document.querySelector('.detail h1')?.innerText ?? ''`
      await page.until(`(${heading}).startsWith('0second')`)
      ids.unshift('0third')
      await page.until(`document.querySelectorAll('.row').length === 2`)
      expect(await page.evaluate(heading)).toMatch(/^0second/)
      await page.resize({ width: 400, height: 760 })
      const side = 'getComputedStyle(document.querySelector(".detail")).display'
      expect(await page.evaluate(side)).toBe('none')
    })

    it('shows once what needs the same command, and folds runs that wait alike', async () => {
      const entry = (more: object) => ({
        status: 'warning',
        about: 'a',
        place: ['skills'],
        ...more,
      })
      const waiting = ['0a', '0b', '0c'].map((key) =>
        entry({ name: 'ship', state: 'waiting', fix: `approve ${key}`, place: ['runs', key] }),
      )
      const untrusted = ['is new', 'has changed'].map((about) =>
        entry({ name: about, state: 'not trusted', about, fix: 'skillrail trust' }),
      )
      const names = ['skills', 'clients', 'runs', 'servers']
      await open(
        projectSaying('x', {
          overview: () => ({
            workspace: 'x',
            parts: names.map((name) => ({
              name,
              tab: name,
              total: name === 'clients' ? 0 : 1,
              summary: `1 ${name}`,
              entries: { skills: untrusted, runs: waiting }[name] ?? [],
            })),
          }),
          runs: () => listOf([{ ...rowOf('0a'), status: 'waiting' }]),
        }),
      )
      await page.go(view.address)
      await page.until(shows('and 2 more like it'))
      await page.until(shows('and 1 more that the same command is for'))
      const shown = `[...document.querySelectorAll('.type code')].filter((one) => one.checkVisibility()).map((one) => one.innerText)`
      expect(await page.evaluate(shown)).toEqual([
        'skillrail trust',
        'approve 0a',
        'skillrail hooks install',
      ])
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
      expect(await page.evaluate(shown)).toEqual([
        'skillrail trust',
        'approve 0a',
        'approve 0b',
        'approve 0c',
        'skillrail hooks install',
      ])
      await page.until(shows('has changed'))
      const colours = `[...new Set([...document.querySelectorAll('.chip.waiting')].map((one) => getComputedStyle(one).color))].length`
      expect(await page.evaluate(colours)).toBe(1)
      expect(await page.evaluate(`document.querySelectorAll('.chip.waiting').length`)).toBe(4)
      // Nothing there is neither good nor bad.
      const bar = (tab: string): string =>
        `getComputedStyle(document.querySelector('.tile[href="#/${tab}"]')).borderTopColor`
      const none = await page.evaluate(bar('clients'))
      expect(none).not.toBe(await page.evaluate(bar('servers')))
    })

    it('offers to run a chain only if its plan has no error', async () => {
      const severity = { now: 'error' }
      const plan = projectSaying('x').plan
      await open(
        projectSaying('x', {
          async plan(question) {
            const [one] = (await plan(question)).diagnostics
            return { ...(await plan(question)), diagnostics: [{ ...one, severity: severity.now }] }
          },
        }),
      )
      await page.go(view.address)
      await page.until(shows('Needs attention'))
      await page.evaluate(`location.hash = '#/chains/one'`)
      await page.until(shows('skillrail chain plan x'))
      expect(await page.evaluate(shows('skillrail run x'))).toBe(false)
      severity.now = 'warning'
      await page.evaluate(`location.hash = '#/overview'`)
      await page.until(shows('Needs attention'))
      await page.evaluate(`location.hash = '#/chains'`)
      await page.until(shows('skillrail run x'))
    })

    it('continues to follow after a failed request, and reports the failure', async () => {
      const next = { fails: false }
      await open(
        projectSaying('x', {
          runs() {
            if (!next.fails) return listOf([rowOf('0run')])
            next.fails = false
            throw new Error('the disk was away')
          },
        }),
      )
      await page.go(view.address)
      await page.until(shows('Needs attention'))
      await page.evaluate(`location.hash = '#/runs'`)
      await page.until(shows('0run'))
      next.fails = true
      await page.until(shows('The disk was away.'))
      expect(await page.evaluate(shows('0run'))).toBe(true)
      await page.until(`!${shows('The disk was away.')}`)
    })

    it('shows the newest runs, counts them correctly, and names the command that lists all of them', async () => {
      const ids = Array.from({ length: 1200 }, (_, at) => `run-${at}`)
      const [code, path] = ['c', 'run-5.jsonl']
      const damaged = { code, severity: 'error', message: 'run-5.jsonl is damaged', path }
      await open(
        projectSaying('x', {
          runs({ number }) {
            const known = ids.slice(0, number('most'))
            const runs = known.filter((runId) => runId !== 'run-5').map(rowOf)
            return { ...listOf(runs), total: ids.length, diagnostics: [damaged] }
          },
        }),
      )
      await page.resize({ width: 390, height: 760 })
      await page.go(view.address)
      await page.until(shows('Needs attention'))
      await page.evaluate(`location.hash = '#/runs'`)
      await page.until(shows('The newest 500 of 1,200 runs.'))
      await page.evaluate(`document.querySelector('.diagnostics').open = true`)
      await page.until(shows('run-5.jsonl is damaged [c]'))
      await page.until(shows('skillrail runs list'))
      expect(await page.evaluate(`document.querySelector('.count').innerText`)).toBe('499')
    })

    it('stays small with 1,000 skills, a run of 1,000 steps and an output of a megabyte', async () => {
      await open(largeProject())
      await page.go(view.address)
      await page.until(shows('Needs attention'))
      await page.evaluate(`location.hash = '#/skills'`)
      await page.until('document.querySelectorAll(".row").length === 200')
      await page.until(shows('Show 200 more of 800'))
      await page.evaluate(typeInto('.search', 'skill-987'))
      await page.until('document.querySelectorAll(".row").length === 1')
      await page.evaluate(`location.hash = '#/runs/0run'`)
      await page.until('document.querySelectorAll(".step").length === 1000')
      expect(Number(await page.evaluate('document.querySelectorAll("*").length'))).toBeLessThan(
        10_000,
      )
      const output = '[...document.querySelectorAll(".opened pre")].at(-1).textContent.length'
      await page.until(`${output} === 65536`)
      await page.evaluate(
        clickOn('.opened button', 'Show more (65,536 of 1,000,000 characters are shown)'),
      )
      await page.until(`${output} === 131072`)
      await page.evaluate(`location.hash = '#/chains/one'`)
      await page.until('document.querySelectorAll(".step").length === 1001')
      await page.until(shows('skillrail run x'))
      expect(page.incidents).toEqual([])
    })

    it('lists the triggers that fired first, however many triggers came close', async () => {
      const trigger = { match: 'x', inject: 'a.md', line: 3 }
      const missed = { trigger, outcome: 'near-miss' as const, miss: { reason: 'close' } }
      const fired = { trigger, outcome: 'fired' as const, text: 'x', promptLine: 1, tokens: 1 }
      const small = await projectSaying('x').match(questionFields({ prompt: 'x' }))
      const explanation = Array.from({ length: 250 }, (_, at) => ({
        skill: `skill-${at}`,
        verdicts: [at === 249 ? fired : missed],
      }))
      await open(projectSaying('x', { match: () => Promise.resolve({ ...small, explanation }) }))
      await page.go(view.address)
      await page.until('document.querySelector(".row") !== null')
      await page.evaluate(`location.hash = '#/triggers'`)
      await page.until('document.querySelector("textarea") !== null')
      await page.evaluate(typeInto('textarea', 'x'))
      await page.until('document.querySelectorAll(".trace").length === 200')
      const said = await page.evaluate(
        '[...document.querySelectorAll(".trace")].slice(0, 2).map((one) => one.innerText)',
      )
      expect(said).toMatchObject([/^fired\s+skill-249/, /^missed\s+skill-0 /].map(matching))
    })
  })
})

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern)

/** Its only step never says the same twice. */
function writeRestlessChain(project: ViewProject): void {
  project.write('.skillrail/skills/counts/SKILL.md', skillText('counts', ''))
  project.write(
    '.skillrail/skills/counts/scripts/run.sh',
    'echo x >> counted; wc -l < counted',
    0o755,
  )
  const chain = 'metadata:\n  chain: counts\n  retry_until: stable\n  retry_count: 2\n'
  project.write('.skillrail/skills/restless/SKILL.md', skillText('restless', chain))
}

/** A nested chain with parallel steps, and a step that fails once. */
function writeFlakyChain(project: ViewProject): void {
  const chains = { checks: 'unit-tests & deploy-staging', ship: 'checks\n    flaky retry=2' }
  for (const [name, steps] of Object.entries(chains)) {
    const chain = `metadata:\n  chain: |\n    ${steps}\n`
    project.write(`.skillrail/skills/${name}/SKILL.md`, skillText(name, chain))
  }
  project.write('.skillrail/skills/flaky/SKILL.md', skillText('flaky', ''))
  const script = '[ -e tried ] || { touch tried; echo no; exit 1; }\necho it worked\n'
  project.write('.skillrail/skills/flaky/scripts/run.sh', script, 0o755)
}

const skillText = (name: string, fields: string): string =>
  `---\nname: ${name}\ndescription: Part of a release.\n${fields}---\nDo it.\n`

/** What axe-core finds in the page: the rule and the elements. */
const violated = `axe.run().then(({ violations }) =>
  violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) => [html.slice(0, 200), any[0]?.message])]))`

/** Cells of a table in which a word of ten letters has no room. */
const crushed = `[...document.querySelectorAll('td')].filter((cell) => cell.checkVisibility() && cell.innerText.length > 10 && cell.clientWidth < 80).map((cell) => cell.innerText)`

/** Places that scroll up and down within another that does. */
const scrollersInScrollers = `[...document.querySelectorAll('main *')].filter((one) => {
  const scrolls = (element) => ['auto', 'scroll'].includes(getComputedStyle(element).overflowY) && element.scrollHeight > element.clientHeight + 1 && element.clientHeight > 0
  return scrolls(one) && !one.matches('pre, textarea') && [...document.querySelectorAll('main *')].some((outer) => outer !== one && outer.contains(one) && scrolls(outer))
}).map((one) => one.className)`

const listOf = (runs: readonly object[]) => ({
  runs,
  total: runs.length,
  diagnostics: [],
})

const rowOf = (runId: string) => ({
  runId,
  skill: 'x',
  status: 'success',
  arguments: [],
  finishedSteps: 1,
  failedSteps: 0,
  startedAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
})

function largeProject(): ProjectView {
  const small = projectSaying('x')
  const names = Array.from({ length: 1000 }, (_, at) => `step-${at}`)
  const result = resultOf(names)
  const steps = result.attempts[0]?.steps.map((step) => ({ ...step, log: 'a'.repeat(1_000_000) }))
  const attempts = result.attempts.map((attempt) => ({ ...attempt, steps: steps ?? [] }))
  return projectSaying('x', {
    async skills(question) {
      const { skills, diagnostics } = await small.skills(question)
      const many = Array.from({ length: 1000 }, (_, at) =>
        skills.map((skill) => ({ ...skill, id: `skill-${at}`, name: `skill-${at}` })),
      )
      return { skills: many.flat(), diagnostics }
    },
    ...runSaying(standing({ ...result, attempts })),
    async plan(question) {
      const plan = await small.plan(question)
      const [step] = plan.graph.flat()
      if (step === undefined) return plan
      const inner = names.map((name) => [{ ...step, step: name, inner: [] }])
      return { ...plan, graph: [[{ ...step, inner }]] }
    },
  })
}
