import { listenOnLoopback, type LoopbackServer } from './loopback.ts'

const page = `<!doctype html>
<html lang="en"><head><title>Login</title><style>
  body { font: 20px sans-serif; max-width: 30em; margin: 3em auto }
  input, button { font: inherit; padding: 0.3em }
</style></head>
<body>
  <h1>Login</h1>
  <p><label>E-mail <input name="email"></label></p>
  <button onclick="document.title = 'Sent'; console.error('boom ' + document.title)">Submit</button>
  <button onclick="document.title = 'Left'">Cancel</button>
  <script>
    const request = new XMLHttpRequest()
    request.open('GET', '/data')
    request.send()
    console.log('ready')
  </script>
</body></html>`

/** A page on loopback with a form, a console error on submit, and one request. */
export async function startPage(): Promise<LoopbackServer> {
  const server = await listenOnLoopback((request, response) => {
    const isData = request.url === '/data'
    response.setHeader('content-type', isData ? 'application/json' : 'text/html')
    response.end(isData ? '{"ok":true}' : page)
  })
  return { ...server, url: `${server.url}/login` }
}
