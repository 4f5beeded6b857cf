"""What lies in an archive, for those who have its disk or its bucket."""

import boto3

from trackers.tweets.archive.bucket import S3Bucket


def files_in(store):
    """All of them by path, whatever they are. Also of a folder."""
    if isinstance(store, S3Bucket):
        s3, bucket, prefix = opened(store)
        listed = s3.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
        keys = [one["Key"] for one in listed]
        return {
            key.removeprefix(prefix): s3.get_object(Bucket=bucket, Key=key)["Body"].read()
            for key in keys
        }
    root = getattr(store, "root", store)
    paths = [path for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def put_file(store, path, data):
    if isinstance(store, S3Bucket):
        s3, bucket, prefix = opened(store)
        s3.put_object(Bucket=bucket, Key=prefix + path, Body=data)
    else:
        (store.root / path).write_bytes(data)


def remove_file(store, path):
    if isinstance(store, S3Bucket):
        s3, bucket, prefix = opened(store)
        s3.delete_object(Bucket=bucket, Key=prefix + path)
    else:
        (store.root / path).unlink()


def opened(store):
    bucket, _, prefix = store.url.removeprefix("s3://").partition("/")
    return boto3.client("s3"), bucket, f"{prefix}/"
