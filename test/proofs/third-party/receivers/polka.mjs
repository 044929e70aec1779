import polka from 'polka';
import getRawBody from 'raw-body';
import { isSigned, port } from './start.mjs';

polka()
  .post('/hooks', async (req, res) => {
    const body = await getRawBody(req, { limit: '1mb', encoding: 'utf8' });
    res.statusCode = isSigned(body, req.headers['x-service-signature']) ? 200 : 401;
    res.end();
  })
  .listen(port);
