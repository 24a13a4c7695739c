const response = await fetch(process.argv[3])
if (!response.ok) throw new Error(`mirror b answered ${response.status}`)
console.log(`mirror b sent ${(await response.text()).length} characters`)
