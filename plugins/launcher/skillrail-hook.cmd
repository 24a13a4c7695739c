@echo off
rem Written by skillrail hooks install. Agent clients call it before every prompt.
setlocal DisableDelayedExpansion
set "NODE_OPTIONS="
set "NODE_EXTRA_CA_CERTS="
set "NODE_V8_COVERAGE="
set "ENTRY=%~dp0@ENTRY@"
if not exist "%ENTRY%" goto gone
set "PROGRAM=@NODE@"
if exist "%PROGRAM%" goto run
for /f "delims=" %%n in ('%SystemRoot%\System32\where.exe "$PATH:node.exe" 2^>nul ^| %SystemRoot%\System32\findstr.exe /v /i /l "node_modules"') do (
  set "PROGRAM=%%n"
  goto run
)
echo skillrail: no Node was found, so no references were injected; install Node 20 or newer 1>&2
goto drain
:gone
echo skillrail: the hook is gone, so no references were injected; run: npx skillrail hooks install 1>&2
:drain
%SystemRoot%\System32\findstr.exe "^" >nul
exit /b 0
:run
"%PROGRAM%" --single-threaded "%ENTRY%" %*
exit /b 0
