# store_in_python.py: users in a store; bytes in, bytes out.
from rowbloom_store import Store

with Store("people.db", "info", "login,versions=3") as store:
    store.put(b"user_1001", "info", b"mail", b"ada@example.org")
    store.put(b"user_1003", "info", b"mail", b"eve@example.org")
    store.put(b"user_1003", "login", b"place", b"Rome\0Oslo")
    store.flush()
    print(store.get(b"user_1001", "info", b"mail"))
    print(store.get(b"user_1002", "info", b"mail"))
    for row, cells in store.scan(prefix=b"user_", limit=10):
        print(row, cells)
    try:
        store.get(b"user_1001", "none", b"mail")
    except RuntimeError as error:
        print(error)
    print(store.stats()["families"]["info"]["files"], "file of info")
