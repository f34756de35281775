// The client: it starts `rewright lsp` and leaves everything else to it.

const { commands, window, workspace } = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

/** @type {LanguageClient | undefined} */
let client;

function makeClient() {
  const command = workspace.getConfiguration('rewright').get('path') || 'rewright';
  const run = { command, args: ['lsp'], transport: TransportKind.stdio };
  return new LanguageClient(
    'rewright',
    'Rewright',
    { run, debug: run },
    { documentSelector: [{ scheme: 'file', language: 'rewright' }, { scheme: 'untitled', language: 'rewright' }] },
  );
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    const choice = await window.showErrorMessage(
      `Rewright's language server does not start: ${error}. Install \`rewright\`, or say where it is.`,
      'Open settings',
    );
    if (choice) {
      await commands.executeCommand('workbench.action.openSettings', 'rewright.path');
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) {
    // One that has not started cannot be stopped.
    await running.stop().catch(() => undefined);
    await running.dispose();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand('rewright.restart', restart),
    workspace.onDidChangeConfiguration((event) => (event.affectsConfiguration('rewright.path') ? restart() : undefined)),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
