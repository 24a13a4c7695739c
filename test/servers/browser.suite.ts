import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isMissing, skipReason } from './needs.ts'
import type { ServerProject } from './project.ts'
import { useFixture } from './fixture.ts'

describe.skipIf(isMissing('chromium'))(
  `a browser that is kept between commands${skipReason('chromium')}`,
  () => {
    const fixture = useFixture(['chrome-devtools'], { kept: true })
    const project = (): ServerProject => fixture().project
    const call = async (tool: string, params: object) =>
      await project().cli(['tools', 'call', `chrome-devtools__${tool}`, JSON.stringify(params)])

    it('takes a screenshot that a sentence asks for', async () => {
      const request = `take a screenshot of ${fixture().page.url} and save it to shot.png`
      const { code, stdout } = await project().cli(['tools', 'do', request, '--yes'])
      expect(stdout).toContain('shot.png')
      expect(code).toBe(0)
      const path = join(project().directory, 'shot.png')
      const image = readFileSync(path)
      expect(image.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1A\n')
      expect([image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual([640, 400])
      expect(image.length).toBeGreaterThan(2000)
    })

    it('calls no tool that may change something without an approval', async () => {
      const request = `take a screenshot of ${fixture().page.url} and save it to other.png`
      const { code } = await project().cli(['tools', 'do', request])
      expect(code).toBe(4)
    })

    it('saves an image that a server sends as a file', async () => {
      const { code, answer } = await project().json([
        'tools',
        'call',
        'chrome-devtools__take_screenshot',
        'pageId=1',
      ])
      expect(code).toBe(0)
      const [file] = answer.files
      expect(file.mimeType).toBe('image/png')
      expect(readFileSync(file.path).subarray(1, 4).toString()).toBe('PNG')
    })

    it('keeps the page between commands', async () => {
      const { stdout } = await project().cli(['tools', 'call', 'list_pages', '--raw'])
      expect(stdout).toContain(fixture().page.url)
    })

    it('clicks a button that the request only describes, and lists the console errors after it', async () => {
      const request = 'click the submit button and list the console errors'
      const { code, stdout, stderr } = await project().cli(['tools', 'do', request, '--yes'])
      expect({ code, stderr }).toMatchObject({ code: 0 })
      expect(stdout).toContain('boom Sent')
      const order = stderr.match(/✓ \d\. \S+/g)
      expect(order).toEqual([
        '✓ 1. chrome-devtools__list_pages',
        '✓ 2. chrome-devtools__take_snapshot',
        '✓ 3. chrome-devtools__click',
        '✓ 4. chrome-devtools__list_console_messages',
      ])
    })

    it('asks for a choice if a description matches two elements', async () => {
      const { code, stderr } = await project().cli(['tools', 'do', 'click the button', '--yes'])
      expect(code).toBe(3)
      expect(stderr).toMatch(/uid is not clear[^\n]*button "Submit"[^\n]*button "Cancel"/)
    })

    it('takes a snapshot before it uses the page, once', async () => {
      const uid = await uidOf('Cancel')
      await project().cli(['tools', 'workflow', 'add', '--template', 'browser'])
      await project().cli(['trust', '--yes'])
      const first = await call('click', { pageId: 1, uid })
      expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(snapshotLine) })
      const second = await call('click', { pageId: 1, uid })
      expect(second).toMatchObject({ code: 0, stderr: '' })
    })

    it('takes a new snapshot after a reload', async () => {
      const reloaded = await call('navigate_page', { pageId: 1, type: 'reload' })
      expect(reloaded.code).toBe(0)
      const { answer } = await project().json(['tools', 'session', 'show'])
      expect(answer.completed).toEqual([])
      const plan = await project().json([
        'tools',
        'workflow',
        'plan',
        'chrome-devtools__click',
        '{"pageId":1,"uid":"x"}',
      ])
      expect(plan.answer.steps).toMatchObject([{ tool: 'take_snapshot', status: 'run' }])
      const stale = await call('hover', { pageId: 1, uid: '1_1' })
      expect(stale.stderr).toContain(snapshotLine)
      const after = await call('click', { pageId: 1, uid: await uidOf('Submit') })
      expect(after).toMatchObject({ code: 0, stderr: '' })
    })

    it('takes a new snapshot in another browser', async () => {
      await project().cli(['tools', 'serve', '--stop'])
      await project().cli(['tools', 'serve', '--detach'])
      const { stderr } = await call('hover', { pageId: 1, uid: '1_1' })
      expect(stderr).toContain(snapshotLine)
    })

    /** The id that a snapshot gives the button of that label. */
    async function uidOf(label: string): Promise<string> {
      const { stdout } = await project().cli([
        'tools',
        'call',
        'chrome-devtools__take_snapshot',
        'pageId=1',
        '--raw',
      ])
      const uid = new RegExp(`uid=(\\S+) button "${label}"`).exec(stdout)?.[1]
      if (uid === undefined) throw new Error(`no button ${label} in ${stdout}`)
      return uid
    }
  },
)

const snapshotLine = '✓ Step 1: take_snapshot completed'

describe.skipIf(isMissing('chromium'))(
  `the browser of another server${skipReason('chromium')}`,
  () => {
    const fixture = useFixture(['playwright'], { kept: true })

    it('goes to a page and clicks what a sentence describes', async () => {
      const { project, page } = fixture()
      const went = await project.cli(['tools', 'do', `navigate to ${page.url}`, '--yes'])
      expect(went).toMatchObject({ code: 0 })
      const clicked = await project.cli(['tools', 'do', 'click the submit button', '--yes'])
      expect(clicked).toMatchObject({ code: 0 })
      const { stdout } = await project.cli([
        'tools',
        'call',
        'browser_console_messages',
        '{"level":"error"}',
        '--raw',
      ])
      expect(stdout).toContain('boom Sent')
    })

    it('has the same workflow, with its own tool names', async () => {
      const { project } = fixture()
      await project.cli(['tools', 'workflow', 'add', '--template', 'browser'])
      await project.cli(['trust', '--yes'])
      const { stderr } = await project.cli(['tools', 'call', 'browser_click', '{"target":"e1"}'])
      expect(stderr).toContain(snapshotLine)
    })
  },
)
