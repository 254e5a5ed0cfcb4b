// The reference server: Nest on Fastify answering a small JSON body, nothing else.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

class BareModule {}
Module({})(BareModule);

const app = await NestFactory.create(BareModule, new FastifyAdapter(), { logger: false });
app.getHttpAdapter().post('/bare', (request, reply) => reply.send({ ok: true, received: request.body.n }));
await app.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
process.stdout.write(`${JSON.stringify({ msg: 'ready' })}\n`);
