const response = await fetch(process.argv[4])
if (!response.ok) throw new Error(`mirror c answered ${response.status}`)
console.log(`mirror c sent ${(await response.text()).length} characters`)
