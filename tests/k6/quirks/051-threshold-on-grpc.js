// 51: grpc_req_duration is there without the module
export const options = { thresholds: { grpc_req_duration: ['avg<1'], ws_connecting: ['max<1'] } };
export default function () { console.log('ran'); }
