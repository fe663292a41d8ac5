import os, resource, json, pytest, time
OUT=os.environ.get("CPU_OUT","/tmp/cpu.jsonl")
def now():
    a=resource.getrusage(resource.RUSAGE_SELF); b=resource.getrusage(resource.RUSAGE_CHILDREN)
    return a.ru_utime+a.ru_stime, b.ru_utime+b.ru_stime, time.monotonic()
rows=[]
@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    t=now(); r=yield; u=now()
    rows.append(("COLLECT",u[0]-t[0],u[1]-t[1],u[2]-t[2])); return r
@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item,nextitem):
    t=now(); r=yield; u=now()
    rows.append((item.nodeid,u[0]-t[0],u[1]-t[1],u[2]-t[2])); return r
def pytest_unconfigure(config):
    u=now(); rows.append(("TOTAL",*u))
    with open(OUT,"a") as f:
        for r in rows: f.write(json.dumps(r)+"\n")
