import restify from 'restify';
import { isSigned, port } from './start.mjs';

const server = restify.createServer();
server.use(restify.plugins.bodyParser());
server.post('/hooks', (req, res, next) => {
  res.send(isSigned(req.rawBody ?? '', req.header('X-Service-Signature')) ? 200 : 401);
  next();
});
server.listen(port);
