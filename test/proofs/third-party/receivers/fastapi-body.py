import uvicorn
from fastapi import FastAPI, Header, HTTPException, Request
from start import PORT, is_signed

app = FastAPI()


@app.post("/hooks")
async def receive(request: Request, x_service_signature: str = Header(None)):
    body = await request.body()
    if x_service_signature is None or not is_signed(body, x_service_signature):
        raise HTTPException(status_code=401, detail="Invalid signature")
    notification = await request.json()
    return {"id": notification["id"]}


uvicorn.run(app, port=PORT, log_level="error")
