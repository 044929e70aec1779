export { explainSignature, type SignatureReport } from './explain-signature.ts';
export type { HeaderFinding } from './header-shape.ts';
export { describeFault, type FaultText, recipeFor, signBy, variantsOf } from './recipe.ts';
export { SIGNATURE_VARIANTS, type SignatureVariant, signBody } from './sign-body.ts';
export { readBody, type SigningInput } from './variants/index.ts';
