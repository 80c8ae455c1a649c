"""Runs moto as an S3 server that checks signatures, until it is killed.

It prints a line of JSON: the port, a bucket, and an access key that may do everything.
"""

import json
import os
import threading

os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "0"

import botocore.session  # noqa: E402
import requests  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


def main():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    # The calls that make the first key cannot be signed.
    requests.post(f"{url}/moto-api/reset-auth", data="4", timeout=30).raise_for_status()
    session = botocore.session.get_session()
    given = {"endpoint_url": url, "region_name": "us-east-1"}
    nobody = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    iam = session.create_client("iam", **given, **nobody)
    iam.create_user(UserName="fetchd")
    iam.put_user_policy(UserName="fetchd", PolicyName="all", PolicyDocument=json.dumps(POLICY))
    key = iam.create_access_key(UserName="fetchd")["AccessKey"]
    session.create_client("s3", **given, **nobody).create_bucket(Bucket="archive")
    ready = {"port": port, "bucket": "archive", "id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}
    print(json.dumps(ready), flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
