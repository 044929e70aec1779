import { holdTable } from './hold-table.ts';

holdTable('servers');
