const [url] = process.argv.slice(2)
const response = await fetch(url, {
  method: 'POST',
  headers: { 'idempotency-key': process.env.SKILLRAIL_IDEMPOTENCY_KEY },
})
console.log(await response.text())
process.exitCode = response.ok ? 0 : 1
