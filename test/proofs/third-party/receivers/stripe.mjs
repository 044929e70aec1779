import express from 'express';
import Stripe from 'stripe';
import { port, secret } from './start.mjs';

const stripe = new Stripe('sk_test_placeholder');
const app = express();
app.post('/hooks', express.raw({ type: 'application/json' }), (req, res) => {
  try {
    stripe.webhooks.constructEvent(req.body, req.headers['stripe-signature'], secret);
  } catch (error) {
    return res.status(400).send(`Webhook Error: ${error.message}`);
  }
  res.json({ received: true });
});
app.listen(port);
