// SPDX-License-Identifier: Apache-2.0
// grpc-js calls our server (grpc_tool server): one line a case. See test/peers/grpc.bats.
const grpc = require('@grpc/grpc-js');

const client = new grpc.Client('unix:' + process.argv[2], grpc.credentials.createInsecure());
const same = (bytes) => bytes;
let failed = false;

function check(name, wrong) {
	failed = failed || Boolean(wrong);
	console.log(wrong ? `not ok ${name}: ${wrong}` : `ok ${name}`);
}

function unary(method, message, options = {}) {
	return new Promise((done) => client.makeUnaryRequest('/test.Test/' + method, same, same, message,
		new grpc.Metadata(), options, (error, answer) => done({ error, answer })));
}

async function echo(size) {
	const message = Buffer.alloc(size, 'gpupool ');
	const { error, answer } = await unary('Echo', message);
	check(`echo of ${size}`, error || (answer.equals(message) ? null : 'another message'));
}

async function fails(name, method, message, options, code, text) {
	const { error } = await unary(method, message, options);
	check(name, error && error.code === code && error.details.includes(text) ? null : `${error}`);
}

function stream(method, message) {
	const call = client.makeServerStreamRequest('/test.Test/' + method, same, same, message);
	const messages = [];
	return new Promise((done) => {
		call.on('data', (data) => messages.push(data[0]));
		call.on('error', () => {});
		call.on('status', (status) => done({ status, messages }));
		if (method === 'Keep')
			setTimeout(() => call.cancel(), 50);
	});
}

async function main() {
	for (const size of [0, 1, 65536, 1 << 20])
		await echo(size);
	const text = '100 % sure: "café"\n 世界 %41';
	await fails('failure', 'Fail', Buffer.from('\x05' + text), {}, grpc.status.NOT_FOUND, text);
	await fails('unknown method', 'Nothing', Buffer.alloc(0), {}, grpc.status.UNIMPLEMENTED, '/test.Test/Nothing');
	await fails('deadline', 'Keep', Buffer.alloc(1), { deadline: Date.now() + 100 }, grpc.status.DEADLINE_EXCEEDED, '');
	const counted = await stream('Count', Buffer.from([200]));
	check('stream', counted.status.code === 0 && counted.messages.every((byte, i) => byte === i) &&
		counted.messages.length === 200 ? null : JSON.stringify(counted.status));
	const kept = await stream('Keep', Buffer.alloc(1));
	check('cancel', kept.status.code === grpc.status.CANCELLED ? null : JSON.stringify(kept.status));
	client.close();
	process.exitCode = failed ? 1 : 0;
}

main();
