"use strict";
var __createBinding = (this && this.__createBinding) || (Object.create ? (function (o, m, k, k2) { if (k2 === undefined) k2 = k; Object.defineProperty(o, k2, { enumerable: true, get: function () { return m[k]; } }); }) : (function (o, m, k, k2) { if (k2 === undefined) k2 = k; o[k2] = m[k]; }));
var __importDefault = (this && this.__importDefault) || function (mod) { return (mod && mod.__esModule) ? mod : { "default": mod }; };
var __awaiter = (this && this.__awaiter) || function (thisArg, _arguments, P, generator) {
  function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
  return new (P || (P = Promise))(function (resolve, reject) {
    function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
    function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
    function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
    step((generator = generator.apply(thisArg, _arguments || [])).next());
  });
};
Object.defineProperty(exports, "__esModule", { value: true });
exports.Kind = exports.later = exports.http = void 0;
const http_1 = __importDefault(require("k6/http"));
const plain_1 = __importDefault(require("./plain.js"));
var Kind;
(function (Kind) { Kind[Kind["A"] = 0] = "A"; Kind[Kind["B"] = 1] = "B"; })(Kind || (exports.Kind = Kind = {}));
const later = () => __awaiter(void 0, void 0, void 0, function* () { const v = yield Promise.resolve(2); return v + plain_1.default.n; });
exports.later = later;
exports.http = typeof http_1.default.get;
exports.default = class Named { hello() { return 'hello'; } };
