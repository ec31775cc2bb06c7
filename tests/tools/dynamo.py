"""The DynamoDB wire protocol in a few lines of standard library: one connection, signed requests, decoded answers."""
import datetime
import hashlib
import hmac
import http.client
import json
import os
import random
import socket
import urllib.parse

TARGET = "DynamoDB_20120810."
STREAMS_TARGET = "DynamoDBStreams_20120810."
STREAMS_OPERATIONS = {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"}


class ApiError(Exception):
    """An answer other than 200: `status`, `type` (without its namespace), `message`, and the whole `body`."""

    def __init__(self, status, body):
        self.status, self.body = status, body
        self.type = str(body.get("__type", "")).rsplit("#", 1)[-1]
        self.message = body.get("message", body.get("Message", ""))
        super().__init__(f"{status} {self.type}: {self.message}")


class Connection:
    """One keep-alive connection to an endpoint.  Not thread-safe: each thread opens its own."""

    def __init__(self, endpoint, timeout=60, reopen=True):
        self.reopen = reopen  # False: a connection that breaks is an error, and nothing is ever sent twice
        url = urllib.parse.urlparse(endpoint if "//" in endpoint else "http://" + endpoint)
        self.host, self.path = url.hostname, url.path or "/"
        self.port = url.port or (443 if url.scheme == "https" else 80)
        kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        self.http = kind(self.host, self.port, timeout=timeout)
        self.region = os.environ.get("AWS_REGION", "us-east-1")
        self.access_key = os.environ.get("AWS_ACCESS_KEY_ID", "local")
        self.secret_key = os.environ.get("AWS_SECRET_ACCESS_KEY", "local")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.http.close()

    def send(self, operation, body):
        """Sends `body` (bytes) and returns (status, answer bytes); a connection that the server had closed is reopened."""
        target = STREAMS_TARGET if operation in STREAMS_OPERATIONS else TARGET
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": target + operation}
        headers.update(self.signature(headers, body))
        fresh = self.http.sock is None
        if fresh:
            self.http.connect()
            self.http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.http.request("POST", self.path, body, headers)
            answer = self.http.getresponse()
            return answer.status, answer.read()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self.http.close()
            if fresh or not self.reopen:
                raise
            return self.send(operation, body)
        except Exception:
            self.http.close()
            raise

    def call(self, operation, request):
        """(status, decoded answer) of one request."""
        status, body = self.send(operation, json.dumps(request).encode())
        try:
            return status, json.loads(body or b"{}")
        except ValueError:
            return status, {"__type": "NotJson", "message": body[:300].decode("utf-8", "replace")}

    def ok(self, operation, **request):
        """The answer of a request that must succeed."""
        status, body = self.call(operation, request)
        if status != 200:
            raise ApiError(status, body)
        return body

    def pages(self, operation, **request):
        """Every page of a Query or Scan."""
        while True:
            page = self.ok(operation, **request)
            yield page
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def items(self, operation, **request):
        """Every item of a Query or Scan."""
        return [item for page in self.pages(operation, **request) for item in page["Items"]]

    def signature(self, headers, body):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        host = self.host if self.port in (80, 443) else f"{self.host}:{self.port}"
        signed = {"host": host, "x-amz-date": now, "x-amz-target": headers["X-Amz-Target"]}
        names = ";".join(sorted(signed))
        canonical = "\n".join(["POST", self.path, "", *(f"{k}:{signed[k]}" for k in sorted(signed)), "", names,
                               hashlib.sha256(body).hexdigest()])
        scope = f"{now[:8]}/{self.region}/dynamodb/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + self.secret_key).encode()
        for part in (now[:8], self.region, "dynamodb", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        digest = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        return {"X-Amz-Date": now, "Authorization": f"AWS4-HMAC-SHA256 Credential={self.access_key}/{scope}, "
                                                    f"SignedHeaders={names}, Signature={digest}"}


class Spread(Connection):
    """The same to several endpoints, which share their data.  Each request goes to one of them, chosen at random."""

    def __init__(self, endpoints, timeout=60, reopen=True):
        self.connections = [Connection(endpoint, timeout, reopen) for endpoint in endpoints]

    def close(self):
        for connection in self.connections:
            connection.close()

    def send(self, operation, body):
        return random.choice(self.connections).send(operation, body)


def connect(endpoint, timeout=60, reopen=True):
    """A connection to an endpoint, or to several with commas between them."""
    endpoints = endpoint.split(",")
    return Spread(endpoints, timeout, reopen) if len(endpoints) > 1 else Connection(endpoint, timeout, reopen)
